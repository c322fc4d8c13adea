/**
 * The record queues, one for each shard, and the format of a job, shared by producers and consumers. While QUEUE_SHARDS is
 * being changed, processes disagree: producers announce the shards that they use and consumers serve those too, so that no
 * queue is left without a consumer. A shard stays known until it is removed; a producer that still uses it announces it
 * again.
 */

import { createHash } from 'node:crypto';
import type { Queue, Worker } from 'bullmq';
import { z } from 'zod';
import type { RedisClient, RedisConnection } from '#libs/base/redis/connection';
import { within } from '#libs/base/timers';
import { type NewRecord, newRecord, noticeHash } from './contract.ts';

export const queuePrefix = 'assent';
/** The braces keep all keys of a queue in one Redis Cluster slot. */
export const recordQueue = (shard: number): string => `{record-${shard}}`;
export const maintenanceQueue = '{maintenance}';

/** An organization's records always go through the same queue. */
export function shardOf(organizationId: string, shards: number): number {
  if (shards === 1) return 0;
  return createHash('sha256').update(organizationId).digest().readUInt32BE(0) % shards;
}

const shardsKey = 'assent:shards';
/** Milliseconds between a producer's announcements: a flushed Redis or `queue forget` loses the earlier ones. */
export const announceEvery = 2_000;

const range = (count: number): number[] => Array.from({ length: count }, (_, shard) => shard);

/** `shards`: how many, or which. */
export async function announceShards(client: RedisClient, shards: number | number[]): Promise<void> {
  await client.sadd(shardsKey, ...(typeof shards === 'number' ? range(shards) : shards));
}

/** This process's own shards and all that were announced. */
export async function knownShards(client: RedisClient, own: number): Promise<number[]> {
  return [...new Set([...range(own), ...(await announcedShards(client))])].sort((one, other) => one - other);
}

/** Those that producers announced. */
export const announcedShards = async (client: RedisClient): Promise<number[]> =>
  (await client.smembers(shardsKey)).map(Number);

export async function unannounceShards(client: RedisClient, shards: number[]): Promise<void> {
  await client.srem(shardsKey, ...shards);
}

/** Milliseconds for which an active job is locked. */
export const lockLasts = 10_000;
/** Milliseconds between two rounds in which workers look for jobs whose lock has ended. */
export const stalledCheckedEvery = 3_000;

/** Milliseconds: more than a worker's longest statement. */
const closingPatience = 15_000;
const closingWithoutRedis = 1_000;

/**
 * Closes queues and workers; BullMQ itself would wait forever while Redis is down. Workers finish their current jobs.
 * Without Redis a job cannot be completed: it is abandoned, and later delivered to another worker.
 */
export async function closeAll(redis: RedisConnection, closables: (Queue | Worker)[]): Promise<void> {
  const isThere = redis.client.status === 'ready';
  const closing = Promise.all(closables.map((closable) => closable.close()));
  await within(isThere ? closingPatience : closingWithoutRedis, closing).catch(() => {});
}

/**
 * A job is a batch of records. A worker must accept what the previous release queued, so a new field is optional. A job
 * that uses a new field, or has a new shape, gets a new version: a worker of the previous release would silently drop what
 * it does not know.
 */
export const jobVersion = 5;
/**
 * Versions of jobs in which no record has a region or model (4), and in which none is imported either (3). They keep their
 * old numbers, so that workers of the previous release can read them.
 */
const versionOfImported = 4;
const versionOfRecorded = 3;

/** index into the list of shared texts */
const index = z.int().nonnegative();

const payload = z.object({
  /**
   * What each version lacks. 4: region and model; 3: also importedAt; 2: also notice and variant; 1: also the shared lists,
   * so every record holds its own texts.
   */
  v: z.union([
    z.literal(1),
    z.literal(2),
    z.literal(versionOfRecorded),
    z.literal(versionOfImported),
    z.literal(jobVersion),
  ]),
  /** each text once: under load a few sites and browsers repeat */
  domainIds: z.array(newRecord.shape.domainId).optional(),
  userAgents: z.array(z.string()).optional(),
  notices: z.array(noticeHash).optional(),
  records: z
    .array(
      newRecord.extend({
        domainId: z.union([newRecord.shape.domainId, index]),
        userAgent: z.union([z.string(), index]).optional(),
        notice: z.union([noticeHash, index]).optional(),
      }),
    )
    .min(1),
});

type JobPayload = z.infer<typeof payload>;

const compiled = z.compile(payload);

export function packJob(records: NewRecord[]): JobPayload {
  const [domainIds, userAgents, notices] = [listOnce(), listOnce(), listOnce()];
  const packed = records.map((record) => ({
    ...record,
    domainId: domainIds.indexOf(record.domainId),
    userAgent: record.userAgent === undefined ? undefined : userAgents.indexOf(record.userAgent),
    notice: record.notice === undefined ? undefined : notices.indexOf(record.notice),
  }));
  return {
    v: versionOf(records),
    domainIds: domainIds.texts(),
    userAgents: userAgents.texts(),
    notices: notices.texts(),
    records: packed,
  };
}

function versionOf(records: NewRecord[]): JobPayload['v'] {
  if (records.some(({ region, model }) => region !== undefined || model !== undefined)) return jobVersion;
  return records.some(({ importedAt }) => importedAt !== undefined) ? versionOfImported : versionOfRecorded;
}

function listOnce() {
  const indexes = new Map<string, number>();
  return {
    indexOf: (text: string): number => {
      const known = indexes.get(text);
      if (known !== undefined) return known;
      indexes.set(text, indexes.size);
      return indexes.size - 1;
    },
    texts: () => [...indexes.keys()],
  };
}

/** Throws an error that names what is wrong with the payload. */
export function unpackJob(data: unknown): NewRecord[] {
  const read = compiled.safeParse(data);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`payload does not match its schema at ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { domainIds = [], userAgents = [], notices = [], records } = read.data;
  for (const record of records) {
    if (typeof record.domainId === 'number') record.domainId = domainIds[record.domainId] ?? record.domainId;
    if (typeof record.userAgent === 'number') record.userAgent = userAgents[record.userAgent] ?? record.userAgent;
    if (typeof record.notice === 'number') record.notice = notices[record.notice] ?? record.notice;
  }
  if (!records.every(isUnpacked)) throw new Error('payload does not match its schema: a shared text is missing');
  return records;
}

const isUnpacked = (record: JobPayload['records'][number]): record is NewRecord =>
  typeof record.domainId !== 'number' && typeof record.userAgent !== 'number' && typeof record.notice !== 'number';

const versionedPayload = z.object({ v: z.number().int() });

/** A payload of a newer release waits for a worker that knows it. */
export function isOfNewer(data: unknown): boolean {
  const version = versionedPayload.safeParse(data);
  return version.success && version.data.v > jobVersion;
}

export type Fields = Record<string, unknown>;

/** For a job's payload before it is validated. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Rough size in memory of a job and its unpacked records, in bytes, from measurements. */
export function roughSize(data: unknown): number {
  const { records, userAgents } = isFields(data) ? data : {};
  return sumOf(records, sizeOfRecord) + sumOf(userAgents, lengthOf);
}

function sizeOfRecord(record: unknown): number {
  if (!isFields(record)) return 0;
  const texts = lengthOf(record.tcString) + lengthOf(record.gppString) + lengthOf(record.pageUrl);
  return 500 + texts + 150 * (entriesOf(record.preferences) + entriesOf(record.metadata));
}

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);
const entriesOf = (value: unknown): number => (isFields(value) ? Object.keys(value).length : 0);
const sumOf = (list: unknown, of: (value: unknown) => number): number =>
  Array.isArray(list) ? list.reduce<number>((sum, each) => sum + of(each), 0) : 0;
