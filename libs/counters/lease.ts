/** Leases: of all processes one at a time does a piece of work that would do no harm twice, but cost twice. */
import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '#libs/runtime/redis';
import { scripted } from './scripts.ts';

/** Milliseconds after which the lease of a process that died is free. */
const lasts = 10_000;

/**
 * Does the work unless another process does, or did begin less than `turn` milliseconds ago. The lease is renewed while
 * the work lasts; its signal aborts where it is lost all the same (Redis was emptied). False where the work was not begun,
 * also while Redis is away.
 */
export async function withLease(
  connection: RedisConnection,
  { name, turn }: { name: string; turn: number },
  work: (lost: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const key = `assent:lease:${name}`;
  if (connection.runIdOf(key) === undefined) return false;
  const owner = randomUUID();
  if ((await connection.client.set(key, owner, 'PX', lasts, 'NX')) === null) return false;
  const started = performance.now();
  const lost = new AbortController();
  const keep = (milliseconds: number) =>
    scripted(connection.client).assentLease(1, key, owner, Math.ceil(Math.max(0, milliseconds)));
  const renew = () =>
    keep(lasts).then(
      (held) => held === 1 || lost.abort(),
      () => {},
    );
  const timer = setInterval(renew, lasts / 3);
  try {
    await work(lost.signal);
  } finally {
    clearInterval(timer);
    await keep(turn - (performance.now() - started)).catch(() => {});
  }
  return true;
}
