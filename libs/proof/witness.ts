/**
 * The witness: Redis stores the newest size and root of every log. A Postgres restored from an older copy is behind it, and
 * must not sign a different tree of a size that was signed before.
 */
import { readFileSync } from 'node:fs';
import type { RedisClient, RedisConnection } from '#libs/base/redis/connection';

const rememberNewer = readFileSync(new URL('./remember.lua', import.meta.url), 'utf8');

const key = 'assent:logs';
/** A field beside the domains: the run_id of the server that knows every log. */
const whole = 'run_id';

export interface Witnessed {
  log: number;
  /** size of the newest checkpoint that was, or was about to be, published */
  size: number;
  /** base64 */
  root: string;
}

interface WitnessedLog extends Witnessed {
  domainId: string;
}

/** The stored sizes and roots of these domains, in their order. */
export async function recall(client: RedisClient, domainIds: string[]): Promise<(Witnessed | undefined)[]> {
  if (domainIds.length === 0) return [];
  const fields = await client.hmget(key, ...domainIds);
  return fields.map((field) => (field ? unpack(field) : undefined));
}

/** Must succeed before a checkpoint is published. Newer stored values stay. */
export async function remember(client: RedisClient, logs: WitnessedLog[]): Promise<void> {
  if (logs.length === 0) return;
  const fields = logs.flatMap(({ domainId, log, size, root }) => [domainId, log, size, root]);
  await client.eval(rememberNewer, 1, key, ...fields);
}

/**
 * Whether Redis knows everything that was ever published. A server that was emptied, promoted or restored may not, until
 * every log has been compared and stored again. Must be read after the stored sizes.
 */
export async function isWhole(redis: RedisConnection): Promise<boolean> {
  const noted = await redis.client.hget(key, whole);
  return noted !== null && noted === redis.runIdOf(key);
}

/** The run_id of the connected server; undefined while not connected. */
export const witnessServer = (redis: RedisConnection): string | undefined => redis.runIdOf(key);

/** `server`: run_id of the server that knows every log. */
export const noteWhole = (client: RedisClient, server: string): Promise<number> => client.hset(key, whole, server);

/** Forgets domains that were deleted. */
export async function forgetLogs(client: RedisClient, domainIds: string[]): Promise<void> {
  if (domainIds.length > 0) await client.hdel(key, ...domainIds);
}

function unpack(field: string): Witnessed {
  const [log, size, root = ''] = field.split(' ');
  return { log: Number(log), size: Number(size), root };
}

/** Whether a log with this number and size lacks entries that were signed before. */
export const isBehind = (own: { log: number; size: number }, witnessed: Witnessed | undefined): boolean =>
  witnessed !== undefined && (witnessed.log > own.log || (witnessed.log === own.log && witnessed.size > own.size));
