/** The proofs that people take home (I8): asked of an API, and verified with the log's public keys alone. */

import { sha256 } from '#libs/base/sha256';
import { verifyEd25519 } from '#libs/proof/ed25519';
import { checkFile, parseVerifierKeys } from '#libs/proof/tree/check-file';
import type { VerifierKey } from '#libs/proof/tree/verifier-key';
import type { Site } from '../stack/client.ts';
import { callOnce, callUntilDone } from './calls.ts';
import { isAcknowledged, toErase } from './load.ts';
import type { Activity, Scene } from './scene.ts';

/** A bundle of a record, and its proof as a file. */
const forms = ['application/json', 'text/plain'] as const;
/** records of each domain that are asked for when a drill is over */
const sample = 5;
/** The record waits in a queue, no checkpoint covers it yet, or a store is away. */
const foreseen = [200, 404, 409, 503];

const proofOf = (site: Site, recordId: string, accept: string) => ({
  site,
  path: `/v1/consent/${site.domainId}/records/${recordId}/proof`,
  accept,
});

/** Of all logs that the domain has had. */
async function keysOf(scene: Scene, site: Site): Promise<VerifierKey[]> {
  const logs = await scene.sql(
    (sql) => sql<{ log: number }[]>`
      select log from logs join domains on number = domain_number where id = ${site.domainId}`,
  );
  const paths = logs.map(({ log }) => `/v1/consent/${site.domainId}/log/key?log=${log}`);
  const texts = await Promise.all(paths.map((path) => callUntilDone(scene, { site, path, accept: 'text/plain' })));
  return parseVerifierKeys(sha256, texts.join('\n'));
}

/** Why the file does not prove that the record is in the log; undefined where it does. */
function whyNotProven(file: Uint8Array, keys: VerifierKey[], recordId: string): string | undefined {
  const verdict = checkFile(file, keys, { sha256, verifyEd25519 });
  if (!verdict.holds) return verdict.why;
  const { entry } = verdict;
  return entry.type === 'record' && entry.id === recordId ? undefined : 'it is of something else';
}

/** Asks for proofs of some records of every site, and of those that are taken already. What is wrong, in words. */
export async function checkProofs(scene: Scene, taken: Map<string, Uint8Array> = new Map()): Promise<string[]> {
  const wrong: string[] = [];
  for (const site of scene.sites) {
    const ids = await scene.sql(
      (sql) => sql<{ id: string }[]>`
        select r.id from records r join domains d on d.number = domain_number
        where d.id = ${site.domainId} and (${taken.size === 0} or r.id = any(${[...taken.keys()]}))
        order by random() limit ${taken.size || sample}`,
    );
    const keys = ids.length > 0 ? await keysOf(scene, site) : [];
    for (const [at, { id }] of ids.entries()) {
      const fresh = await callUntilDone(scene, proofOf(site, id, forms[at % forms.length] ?? forms[0]));
      const why = whyNotProven(fresh, keys, id) ?? whyNotProven(taken.get(id) ?? fresh, keys, id);
      if (why) wrong.push(`the proof of ${id} does not hold: ${why}`);
    }
  }
  return wrong;
}

/** Proofs are taken while faults go on, half of them before the visitor is erased, and hold for ever. */
export function takeProofs(scene: Scene): Activity {
  const taken = new Map<string, Uint8Array>();
  let [count, ofErased] = [0, 0];
  return {
    pause: 1_000,
    work: async () => {
      count += 1;
      const ofVisitor = count % 2 === 0 ? toErase : '';
      const acknowledged = scene.load.attempts.filter(isAcknowledged);
      const some = acknowledged.filter(({ body }) => body.visitorId.startsWith(ofVisitor));
      const attempt = some[Math.floor(Math.random() * some.length)];
      if (!attempt) return;
      const { site, body } = attempt;
      const answer = await callOnce(scene, proofOf(site, body.id, forms[0])).catch(() => undefined);
      const file = await answer?.arrayBuffer().catch(() => undefined);
      if (!answer || !file) return;
      scene.expect(foreseen.includes(answer.status), `a proof is answered ${answer.status}`);
      if (!answer.ok) return;
      taken.set(body.id, new Uint8Array(file));
      if (ofVisitor) ofErased += 1;
    },
    check: async () => {
      for (const what of await checkProofs(scene, taken)) scene.expect(false, `I8: ${what}`);
      scene.expect(ofErased > 0 && ofErased < taken.size, `of ${taken.size} proofs ${ofErased} are of erased visitors`);
      console.log(`${taken.size} proofs were taken, ${ofErased} of erased visitors, and all asked for again`);
    },
  };
}
