/** Stores made-up records through the queue and the worker, as the API would. The API itself takes nothing so old. */
import type { NewRecord } from '#libs/contract/record';
import { findDrift } from '#libs/counters/drift';
import { isReady } from '#libs/counters/fill';
import { shardOf } from '#libs/queue/names';
import { createProducer } from '#libs/queue/produce';
import type { RedisConnection } from '#libs/runtime/redis';
import { listCountersSince } from '#libs/store/counters';
import { listDroppedMonths } from '#libs/store/records/months';
import { findStored } from '#libs/store/records/stored';
import type { Database } from '#libs/store/sql';
import type { Administration } from '#libs/store/tenants/administration';
import { findOrganizations } from '#libs/store/tenants/tenants';
import { Advice } from '../stack/advice.ts';
import { waitUntil } from '../stack/wait.ts';
import { sites } from './sites.ts';
import { type Period, planDays, recordsOf } from './visits.ts';

const jobSize = 250;
/** Records on their way at once: visitors who decide meanwhile wait behind them in the queue. */
const batchSize = 5_000;
/** milliseconds */
const patience = 60_000;

interface Target {
  db: Database;
  admin: Administration;
  redis: RedisConnection;
  queueShards: number;
  organizationId: string;
}

export interface Filled {
  added: number;
  /** records that were there before */
  present: number;
  /** counters that differ between Redis and Postgres */
  differences: number;
}

/** After `stop`, begins no further batch; what was sent is stored and counted when this resolves. */
export async function fill(
  { db, admin, redis, queueShards, organizationId }: Target,
  period: Period,
  { stop, say }: { stop: AbortSignal; say: (line: string) => void },
): Promise<Filled> {
  const days = planDays(period);
  const since = days[0]?.date ?? '';
  const dropped = (await db.run(listDroppedMonths)).filter((month) => month >= since.slice(0, 7)).at(-1);
  if (dropped) throw new Advice(`The records of ${dropped} are past their retention: choose fewer --months.`);
  const producer = createProducer(redis, queueShards);
  try {
    await producer.ready();
    const workers = await Promise.all(producer.queues().map((queue) => queue.getWorkersCount()));
    if (!workers.some((count) => count > 0))
      throw new Advice('No worker is running: run npm start in another terminal.');
    const domains = await ensureDomains(db, admin, organizationId);
    const shard = shardOf(organizationId, queueShards);
    const path: Path = {
      add: (records) => producer.add(shard, records),
      findStored: (records) => db.run((sql) => findStored(sql, records)),
    };
    const filled = { added: 0, present: 0 };
    let waiting: NewRecord[] = [];
    for (const [at, day] of days.entries()) {
      if (stop.aborted) break;
      const domainId = domains.get(day.site.name) ?? '';
      waiting = waiting.concat(recordsOf(day, period).map((record) => ({ ...record, domainId })));
      if (waiting.length < batchSize && at < days.length - 1) continue;
      const added = await store(waiting, path);
      filled.added += added;
      filled.present += waiting.length - added;
      waiting = [];
      say(`${day.date.slice(0, 7)}  ${(filled.added + filled.present).toLocaleString('en')} records`);
    }
    await waitUntil(() => isReady(redis, organizationId), { deadlineMs: 30_000, intervalMs: 100 });
    const listCounters = () => db.run((sql) => listCountersSince(sql, organizationId, since));
    const { differences } = await findDrift(redis, organizationId, { since, patience: 5_000, listCounters });
    return { ...filled, differences: differences.length };
  } finally {
    await producer.close();
  }
}

/** The ids of all sites' domains by name; those that are missing are made. */
async function ensureDomains(db: Database, admin: Administration, organizationId: string) {
  const found = (await db.run((sql) => findOrganizations(sql, [organizationId]))).get(organizationId);
  if (!found) throw new Advice(`There is no organization ${organizationId}.`);
  const ids = new Map(found.domains.map(({ name, domainId }) => [name, domainId]));
  for (const { name } of sites) {
    if (ids.has(name)) continue;
    ids.set(name, (await admin.createDomain(organizationId, { name, origins: [`https://${name}`] })).domainId);
  }
  return ids;
}

export interface Path {
  /** Resolves once the job is in Redis; after a rejection it may be there or not. */
  add(records: NewRecord[]): Promise<void>;
  findStored(records: NewRecord[]): Promise<Set<string>>;
}

/** Resolves once all records are stored; returns how many were missing before. A retried add stores nothing twice. */
export async function store(records: NewRecord[], { add, findStored }: Path): Promise<number> {
  const stored = await findStored(records);
  const missing = records.filter(({ id }) => !stored.has(id));
  for (let at = 0; at < missing.length; at += jobSize) {
    const job = missing.slice(at, at + jobSize);
    const isAdded = () =>
      add(job).then(
        () => true,
        () => false,
      );
    if (!(await waitUntil(isAdded, { deadlineMs: patience, intervalMs: 200 })))
      throw new Advice('Redis does not take records.');
  }
  const isStored = async () => (await findStored(missing)).size === missing.length;
  if (await waitUntil(isStored, { deadlineMs: patience })) return missing.length;
  throw new Advice('The worker does not store the records; see: assent queue status, assent records rejected.');
}
