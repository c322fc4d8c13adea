/**
 * The tombstones in Redis: a Postgres that was restored from a backup does not know who was erased since. They stay for as
 * long as backups are kept.
 */
import type { RedisClient, RedisConnection } from '#libs/runtime/redis';

const key = 'assent:tombstones';

export interface RememberedTombstone {
  organizationId: string;
  /** null: all domains of the organization */
  domainId: string | null;
  /** hex */
  hash: string;
  /** RFC 3339 */
  erasedAt: string;
}

const fieldOf = ({ organizationId, domainId, hash }: Omit<RememberedTombstone, 'erasedAt'>): string =>
  `${organizationId}/${domainId ?? ''}/${hash}`;

/** The run_id of the server that remembers them; undefined while not connected. */
export const serverOfTombstones = (redis: RedisConnection): string | undefined => redis.runIdOf(key);

export async function rememberTombstones(redis: RedisClient, tombstones: RememberedTombstone[]): Promise<void> {
  if (tombstones.length === 0) return;
  await redis.hset(key, ...tombstones.flatMap((each) => [fieldOf(each), each.erasedAt]));
}

export async function recallTombstones(redis: RedisClient): Promise<RememberedTombstone[]> {
  const fields = await redis.hgetall(key);
  return Object.entries(fields).flatMap(([field, erasedAt]) => {
    const [organizationId = '', domainId = '', hash = ''] = field.split('/');
    return hash === '' ? [] : [{ organizationId, domainId: domainId || null, hash, erasedAt }];
  });
}

/** `before`: RFC 3339; who was erased earlier is in no backup any more. */
export async function forgetTombstones(redis: RedisClient, before: string): Promise<void> {
  const old = (await recallTombstones(redis)).filter(({ erasedAt }) => erasedAt < before);
  if (old.length > 0) await redis.hdel(key, ...old.map(fieldOf));
}

/** Of an organization that was deleted. */
export async function forgetTombstonesOf(redis: RedisClient, organizationId: string): Promise<void> {
  const theirs = (await recallTombstones(redis)).filter((each) => each.organizationId === organizationId);
  if (theirs.length > 0) await redis.hdel(key, ...theirs.map(fieldOf));
}
