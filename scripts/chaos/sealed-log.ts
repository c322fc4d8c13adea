/** Checks the sealed logs (I8): signed checkpoints that were seen stay valid, and so do the proofs of records. */
import { sha256 } from '#libs/base/sha256';
import { every } from '#libs/base/timers';
import { verifyEd25519 } from '#libs/proof/ed25519';
import { base64 } from '#libs/proof/tree/bytes';
import { checkFile, parseVerifierKeys } from '#libs/proof/tree/check-file';
import { append, emptyFrontier, rootOf } from '#libs/proof/tree/frontier';
import type { VerifierKey } from '#libs/proof/tree/verifier-key';
import type { Site } from '../stack/sites.ts';
import { bodyOf, callOnce, callUntilDone } from './calls.ts';
import { isAcknowledged, toErase } from './load.ts';
import type { Activity, Scene } from './scene.ts';
import type { ChaosStack } from './stack.ts';

/** milliseconds */
const pace = 250;

interface Signed {
  origin: string;
  size: number;
  root: string;
}

export function watchCheckpoints({ sql }: ChaosStack) {
  /** by origin and size */
  const seen = new Map<string, Signed>();
  const lost = new Set<string>();
  const forks: string[] = [];
  const listSigned = () =>
    sql(
      (running) => running<Signed[]>`
        select origin, checkpoint_size as size, split_part(checkpoint, E'\\n', 3) as root from logs
        where checkpoint is not null`,
    );
  const look = async () => {
    for (const signed of await listSigned()) {
      const place = `${signed.origin} at ${signed.size}`;
      const { root } = seen.get(place) ?? signed;
      if (root !== signed.root) forks.push(`two trees are signed of ${place}`);
      seen.set(place, signed);
    }
  };
  // Postgres may be what the drill takes away
  const { stop } = every({ name: 'checkpoints', pace, task: look, failed: () => {} });
  return {
    stop,
    /** Looks now, in addition to the timer. */
    look,
    /** Forgets checkpoints beyond what is stored, which were lost with a server. Returns how many. */
    forgetLost: async (): Promise<number> => {
      const sizes = new Map((await listSigned()).map(({ origin, size }) => [origin, size]));
      for (const [place, { origin, size }] of seen) if (size > (sizes.get(origin) ?? 0)) lost.add(place);
      return lost.size;
    },
    /** What is wrong, in words. */
    check: async (): Promise<string[]> => {
      await look();
      const logs = await sql(
        (running) => running<{ origin: string; leaves: Buffer }[]>`
          select origin, string_agg(leaves, ''::bytea order by first) as leaves
          from logs join log_runs using (domain_number, log) group by origin`,
      );
      const rootsByOrigin = new Map(logs.map(({ origin, leaves }) => [origin, rootsOf(leaves)]));
      const isThere = ({ origin, size, root }: Signed) => rootsByOrigin.get(origin)?.[size] === root;
      const gone = [...seen].filter(([place, signed]) => !lost.has(place) && !isThere(signed));
      return [...forks, ...gone.map(([place]) => `the root of ${place} is not the signed one any more`)];
    },
  };
}

/** The root at each size. */
function rootsOf(leaves: Buffer): string[] {
  const frontier = emptyFrontier();
  const roots = [base64(rootOf(sha256, frontier))];
  for (let at = 0; at < leaves.length; at += 32) {
    append(sha256, frontier, leaves.subarray(at, at + 32));
    roots.push(base64(rootOf(sha256, frontier)));
  }
  return roots;
}

/** entries that checkpoints cover */
export const countSealed = ({ count }: ChaosStack): Promise<number> =>
  count((sql) => sql`select coalesce(sum(checkpoint_size), 0)::int as n from logs`);

export const untilSealed = async (scene: Scene, more = 1): Promise<void> => {
  const before = await countSealed(scene);
  await scene.until(async () => (await countSealed(scene)) >= before + more, `${more} records are sealed`);
};

export const countHalted = ({ count }: ChaosStack, why: 'behind' | 'unconfirmed'): Promise<number> =>
  count((sql) => sql`select count(*)::int as n from logs where halted = ${why} and ended_at is null`);

/** a record's bundle, and its proof as a file */
const forms = ['application/json', 'text/plain'] as const;
/** records of each domain whose proofs are checked at the end of a drill */
const sample = 5;
/** The record waits in a queue, no checkpoint covers it yet, or a store is away. */
const foreseen = [200, 404, 409, 503];

const proofOf = (site: Site, recordId: string, accept: string) => ({
  site,
  path: `/v1/consent/${site.domainId}/records/${recordId}/proof`,
  accept,
});

/** Of all logs that the domain has had; one that was restarted before its first checkpoint never had a key. */
async function keysOf(scene: Scene, site: Site): Promise<VerifierKey[]> {
  const logs = await scene.sql(
    (sql) => sql<{ log: number }[]>`
      select log from logs join domains on number = domain_number where id = ${site.domainId}
        and checkpoint is not null`,
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

/** Checks the proofs of some records of every site, or those of `taken` again. Returns what is wrong, in words. */
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

/** Requests proofs during the faults, half of them of visitors who are erased later. All of them stay valid. */
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
      const response = await callOnce(scene, proofOf(site, body.id, forms[0])).catch(() => undefined);
      const file = response && (await bodyOf(response).catch(() => undefined));
      if (!response || !file) return;
      scene.expect(foreseen.includes(response.status), `the status of a proof is ${response.status}`);
      if (!response.ok) return;
      taken.set(body.id, new Uint8Array(file));
      if (ofVisitor) ofErased += 1;
    },
    check: async () => {
      for (const what of await checkProofs(scene, taken)) scene.expect(false, `I8: ${what}`);
      scene.expect(ofErased > 0 && ofErased < taken.size, `of ${taken.size} proofs ${ofErased} are of erased visitors`);
      console.log(`${taken.size} proofs were taken, ${ofErased} of erased visitors, and all were checked again`);
    },
  };
}
