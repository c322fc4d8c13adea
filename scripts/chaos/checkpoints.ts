/** Every root that was signed while a drill ran: the log has only grown since each of them (I8). */

import { every } from '#libs/base/every';
import { sha256 } from '#libs/base/sha256';
import { base64 } from '#libs/proof/tree/bytes';
import { append, emptyFrontier, rootOf } from '#libs/proof/tree/frontier';
import type { Scene } from './scene.ts';
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
    /** Beside the looks on a timer, one now. */
    look,
    /** Those beyond what is stored went with a server that was lost. Returns how many. */
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
