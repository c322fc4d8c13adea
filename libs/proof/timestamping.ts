/**
 * Has the newest checkpoints of all domains time-stamped, once a UTC day: one request over the root of a tree of them,
 * independent of the number of domains. One worker at a time asks the authority, with growing intervals while it fails. A
 * domain's path in that tree reveals nothing about other domains except hashes.
 */
import { randomInt } from 'node:crypto';
import type { Database, Sql } from '#libs/base/db/database';
import { hasPassed } from '#libs/base/db/postgres-time';
import type { Log } from '#libs/base/ops/process-log';
import { sha256 } from '#libs/base/sha256';
import type { ProofMetrics } from './metrics.ts';
import { type Authority, askForToken } from './timestamps/authority.ts';
import { addTimestamp, listLeaves } from './timestamps/stamped-checkpoints.ts';
import { utf8 } from './tree/bytes.ts';
import { leafHash } from './tree/hash.ts';
import { wholeTree } from './tree/make-proofs.ts';

/** Milliseconds by which installations are spread, so that not all ask at midnight. */
const spread = 60 * 60 * 1_000;

interface TimestampingParts {
  authority: Authority;
  db: Database;
  log: Pick<Log, 'info' | 'warn'>;
  metrics: ProofMetrics;
}

/** Returns a function that every worker calls every few seconds. */
export function createTimestamping(parts: TimestampingParts): (signal: AbortSignal) => Promise<void> {
  const { db, log, metrics } = parts;
  const round = async (signal: AbortSignal) => {
    const taken = await db.write(takeTry);
    if (taken) {
      try {
        const made = await stamp(parts, signal);
        if (made) log.info({ event: 'timestamped', ...made }, 'the newest checkpoints were time-stamped');
      } catch (error) {
        // another worker will make the next attempt
        if (signal.aborted) return;
        const { failures, nextTryAt } = taken;
        log.warn(
          { event: 'not_timestamped', err: error, failures: failures + 1, nextTryAt },
          'the newest checkpoints were not time-stamped, and this is tried again',
        );
      }
    }
    metrics.timestampAge.set(await db.read(timestampAge));
  };
  return (signal) =>
    round(signal).catch((error: unknown) => {
      // an old value would hide the failure
      metrics.timestampAge.remove();
      throw error;
    });
}

/** Undefined if nothing was published since the last time. */
async function stamp({ authority, db }: TimestampingParts, signal: AbortSignal) {
  const checkpoints = await db.read(listLeaves);
  const isDue = checkpoints.some(({ isNew }) => isNew);
  if (isDue) {
    const { root, paths } = wholeTree(
      sha256,
      checkpoints.map(({ body }) => leafHash(sha256, utf8(body))),
    );
    const token = await askForToken(authority, root, signal);
    const leaves = checkpoints.map((leaf, place) => ({ ...leaf, place, path: paths[place] ?? [] }));
    const fresh = leaves.filter(({ isNew }) => isNew);
    await db.transaction((sql) => addTimestamp(sql, { root, size: leaves.length, token }, fresh));
  }
  await db.write((sql) => endTries(sql, randomInt(spread)));
  return isDue ? { checkpoints: checkpoints.length } : undefined;
}

/** Milliseconds: a day and the spread, the furthest ahead that an attempt can be due. */
const longest = 25 * 60 * 60 * 1_000;

interface Try {
  /** failed attempts before this one */
  failures: number;
  /** when the next attempt is due if this one fails */
  nextTryAt: Date;
}

/**
 * Claims the attempt that is due; undefined if none is due or another worker has it. After a failure the next is due in
 * one minute, then two, four and so on up to an hour. Without a checkpoint none is due.
 */
async function takeTry(sql: Sql): Promise<Try | undefined> {
  await sql`
    insert into timestamp_tries (next_try_at, succeeded_at)
    select clock_timestamp(), clock_timestamp() where not exists (select from timestamp_tries)
    on conflict do nothing`;
  const [taken] = await sql<Try[]>`
    update timestamp_tries set
      failures = failures + 1,
      succeeded_at = least(succeeded_at, clock_timestamp()),
      next_try_at = clock_timestamp() + least(interval '1 hour', interval '1 minute' * 2 ^ least(failures, 6))
    where ${hasPassed(sql, sql`next_try_at`, longest)}
      and exists (select from logs where ended_at is null and checkpoint_size > 0)
    returning failures - 1 as failures, next_try_at as "nextTryAt"`;
  return taken;
}

/** `after`: milliseconds into the next UTC day until the next attempt is due. */
async function endTries(sql: Sql, after: number): Promise<void> {
  await sql`
    update timestamp_tries set failures = 0, succeeded_at = clock_timestamp(),
      next_try_at = (date_trunc('day', clock_timestamp() at time zone 'UTC') + interval '1 day') at time zone 'UTC'
        + ${after} * interval '1 ms'`;
}

/** Seconds since the last success, or since the first time-stamp was due; 0 without a checkpoint. */
async function timestampAge(sql: Sql): Promise<number> {
  const [row] = await sql<{ age: number }[]>`
    select greatest(0, extract(epoch from clock_timestamp() - succeeded_at))::float8 as age
    from timestamp_tries
    where exists (select from logs where ended_at is null and checkpoint_size > 0)`;
  return row?.age ?? 0;
}
