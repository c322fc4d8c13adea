/** Changes the records of jobs that are waiting, delayed or failed, which no worker holds. */

import type { Job, Queue } from 'bullmq';
import type { RedisClient } from '#libs/base/redis/connection';
import type { NewRecord } from './contract.ts';
import { type Fields, isFields, packJob, unpackJob } from './queue.ts';

const pageSize = 100;
/** job ids per scan */
const scanSize = 1_000;

/** `delayed` and `failed` ones stay for long; those that wait are soon consumed, unless Postgres is away. */
export type JobState = 'waiting' | 'prioritized' | 'delayed' | 'failed';

/**
 * Returns undefined to leave the job as it is. Otherwise returns either the records to keep, fewer than before, or a
 * replacement for each, in the same order.
 */
export type ChangeRecords = (records: NewRecord[]) => Promise<NewRecord[] | undefined>;

/**
 * Replaces the records of every job in these states by what `change` makes of them. A job without records is removed. A job
 * that nobody can read is changed as far as it can be read. A job that a worker takes meanwhile is stored as it was.
 * Returns how many jobs were changed.
 */
export async function rewriteJobs(queue: Queue, states: JobState[], change: ChangeRecords): Promise<number> {
  let changed = 0;
  for (const state of states) {
    // from the newest on: those that are consumed meanwhile leave at the other end
    for (let from = 0; ; from += pageSize) {
      const jobs: Job[] = (await queue.getJobs([state], from, from + pageSize - 1, false)).filter(Boolean);
      for (const job of jobs) if (await rewriteJob(job, change)) changed += 1;
      if (jobs.length === 0) break;
    }
  }
  return changed;
}

/** `seen`: jobs with their state and score, since a job that comes back has another score. */
interface RestingJobs {
  client: RedisClient;
  seen: Set<string>;
}

/**
 * As `rewriteJobs`, for delayed and failed jobs that are not in `seen`, to which it adds them. A job that stays delayed or
 * failed throughout is never missed.
 */
export async function rewriteResting(
  queue: Queue,
  { client, seen }: RestingJobs,
  change: ChangeRecords,
): Promise<number> {
  let changed = 0;
  const there = new Set<string>();
  for (const state of ['delayed', 'failed']) {
    for await (const [id, score] of membersOf(client, queue.toKey(state))) {
      const place = `${state} ${id} ${score}`;
      there.add(place);
      if (seen.has(place)) continue;
      const job: Job | undefined = await queue.getJob(id);
      if (job && (await rewriteJob(job, change))) changed += 1;
      seen.add(place);
    }
  }
  for (const place of seen) if (!there.has(place)) seen.delete(place);
  return changed;
}

/** Yields the members of a sorted set with their scores; some may come twice. */
async function* membersOf(client: RedisClient, key: string): AsyncGenerator<[string, string]> {
  let cursor = '0';
  do {
    const [next, found] = await client.zscan(key, cursor, 'COUNT', scanSize);
    for (let at = 0; at < found.length; at += 2) yield [found[at] ?? '', found[at + 1] ?? ''];
    cursor = next;
  } while (cursor !== '0');
}

/** Returns whether it was changed; one that is gone by now was not. */
async function rewriteJob(job: Job, change: ChangeRecords): Promise<boolean> {
  const data = await changedData(job, change);
  if (data === undefined) return false;
  return replace(job, data).then(() => true, ignoreMissing);
}

const replace = (job: Job, data: unknown): Promise<void> => (data === null ? job.remove() : job.updateData(data));

/** Undefined: the job does not change; null: no record is left. */
async function changedData(job: Job, change: ChangeRecords): Promise<unknown> {
  const records = recordsOf(job);
  if (!records) return rewriteUnreadable(job.data, change);
  const changed = await change(records);
  return changed?.length === 0 ? null : changed && packJob(changed);
}

function recordsOf(job: Job): NewRecord[] | undefined {
  try {
    return unpackJob(structuredClone(job.data));
  } catch {
    // it waits for a worker of a newer release, or failed because nobody can read it
    return undefined;
  }
}

function ignoreMissing(error: unknown): false {
  if (!(error instanceof Error && /missing|locked/i.test(error.message))) throw error;
  return false;
}

interface Found {
  fields: Fields;
  list: unknown[] | undefined;
  /** a stand-in: the fields as they are, with placeholders for required ones that are missing */
  record: NewRecord;
}

/**
 * Changes a job that this release cannot read (newer, or broken). Its records are found by their field names, so that an
 * erased visitor is removed from these jobs too. Undefined: nothing has to change; null: no record would be left.
 */
async function rewriteUnreadable(data: unknown, change: ChangeRecords): Promise<unknown> {
  const copy: unknown = structuredClone(data);
  const domainIds = isFields(copy) && Array.isArray(copy.domainIds) ? copy.domainIds : [];
  const found = findRecords(copy, domainIds);
  const records = found.map(({ record }) => record);
  const changed = records.length > 0 ? await change(records) : undefined;
  if (!changed) return undefined;
  if (changed.length === 0) return null;
  const isShorter = changed.length < records.length;
  for (const [at, { fields, list, record }] of found.entries()) {
    if (changed.includes(record)) continue;
    const left = isShorter ? {} : changed[at];
    for (const name of Object.keys(fields)) if (!left || !(name in left)) delete fields[name];
    if (isShorter) list?.splice(list.indexOf(fields), 1);
  }
  if (isFields(copy)) forgetUnused(copy, found);
  return copy;
}

function findRecords(value: unknown, domainIds: unknown[], list?: unknown[]): Found[] {
  if (Array.isArray(value)) return value.flatMap((each) => findRecords(each, domainIds, value));
  if (!isFields(value)) return [];
  const domainId = typeof value.domainId === 'number' ? domainIds[value.domainId] : value.domainId;
  const own = typeof domainId === 'string' ? [{ fields: value, list, record: standFor(value, domainId) }] : [];
  return [...own, ...Object.values(value).flatMap((each) => findRecords(each, domainIds))];
}

function standFor(fields: Fields, domainId: string): NewRecord {
  const visitorId = fields.visitorId === undefined ? {} : { visitorId: String(fields.visitorId) };
  return Object.assign({ id: '', decision: 'custom' as const, receivedAt: '' }, fields, { domainId, ...visitorId });
}

/**
 * Blanks shared user agents that no record refers to any more. Their places in the list stay, because records refer to them
 * by index.
 */
function forgetUnused(data: Fields, found: Found[]): void {
  if (!Array.isArray(data.userAgents)) return;
  const used = new Set(found.map(({ fields }) => fields.userAgent));
  data.userAgents = data.userAgents.map((text, at) => (used.has(at) ? text : ''));
}
