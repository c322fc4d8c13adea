/** Visitors' proofs: taken home while faults go on, half of them before the visitor is erased, and valid for ever. */
import type { VerifierKey } from '#libs/merkle/verifier-key';
import { askForKeys, askForProof, untilAnswered, whyNotProven } from '../check-proofs.ts';
import type { Scene } from '../drill.ts';
import type { Attempt } from '../load.ts';
import { anyOf } from './clients.ts';
import { type Going, startLoop } from './loop.ts';
import type { Supervised } from './processes.ts';

/** milliseconds */
const pause = 1_000;
const form = 'application/json';
/** It waits in a queue, no checkpoint covers it yet, or a store is away. */
const foreseen = [404, 409, 503];

interface Kept {
  attempt: Attempt;
  bundle: Uint8Array;
}

export function startProofs(scene: Scene, apis: Supervised[]): Going {
  const { load, expect } = scene;
  const kept: Kept[] = [];
  let count = 0;

  const any = (attempts: Attempt[]) => attempts[Math.floor(Math.random() * attempts.length)];
  const takeNext = async (): Promise<void> => {
    count += 1;
    const newest = load.attempts.slice(-1_000).filter(({ outcome }) => outcome === 'acknowledged');
    const attempt = any(count % 2 === 0 ? newest.filter(({ isErased }) => isErased) : newest);
    if (!attempt) return;
    const asking = { stack: scene, baseUrl: anyOf(apis).baseUrl(), site: attempt.site };
    const answer = await askForProof(asking, attempt.body.id, form).catch(() => undefined);
    const body = await answer?.arrayBuffer().catch(() => undefined);
    if (!answer || !body) return;
    if (answer.ok) kept.push({ attempt, bundle: new Uint8Array(body) });
    else expect(foreseen.includes(answer.status), `a proof is answered ${answer.status}`);
  };
  const end = startLoop(scene, pause, takeNext);

  return {
    end,
    check: async () => {
      const baseUrl = anyOf(apis).baseUrl();
      const keysOf = new Map<string, VerifierKey[]>();
      for (const { attempt, bundle } of kept) {
        const { site, body } = attempt;
        const asking = { stack: scene, baseUrl, site };
        const keys = keysOf.get(site.domainId) ?? (await askForKeys(asking));
        keysOf.set(site.domainId, keys);
        const answer = await untilAnswered(() => askForProof(asking, body.id, form));
        const fresh = new Uint8Array(await answer.arrayBuffer());
        for (const file of [bundle, fresh]) {
          const why = whyNotProven(file, keys, body.id);
          expect(why === undefined, `I8: the proof of ${body.id} does not hold: ${why}`);
        }
      }
      const ofErased = kept.filter(({ attempt }) => attempt.isErased).length;
      expect(
        ofErased > 0 && ofErased < kept.length,
        `only ${kept.length} proofs were taken, ${ofErased} of erased visitors`,
      );
      console.log(
        `${kept.length} proofs were taken, ${ofErased} of them of visitors who are erased, and all asked for again`,
      );
    },
  };
}
