/**
 * The payload that API and worker share: a batch of records.
 * A worker must accept what the previous release queued, so a new field is optional and a new shape is a new version.
 */
import { z } from 'zod';
import { type NewRecord, newRecord } from './record.ts';

export const jobVersion = 2;

const payload = z.object({
  /** 1: every record holds its user agent itself */
  v: z.union([z.literal(1), z.literal(jobVersion)]),
  /** each browser once: it is the longest part of a record, and in a flood the same few */
  userAgents: z.array(z.string()).optional(),
  records: z.array(newRecord.extend({ userAgent: z.union([z.string(), z.int().nonnegative()]).optional() })).min(1),
});

export type JobPayload = z.infer<typeof payload>;

const compiled = z.compile(payload);

export function packJob(records: NewRecord[]): JobPayload {
  const places = new Map<string, number>();
  const packed = records.map((record) => {
    if (record.userAgent === undefined) return record;
    const place = places.get(record.userAgent) ?? places.size;
    places.set(record.userAgent, place);
    return { ...record, userAgent: place };
  });
  return { v: jobVersion, userAgents: [...places.keys()], records: packed };
}

/** Throws an error that names what is wrong with the payload. */
export function unpackJob(data: unknown): NewRecord[] {
  const read = compiled.safeParse(data);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`payload breaks its schema at ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { userAgents = [], records } = read.data;
  for (const record of records) {
    if (typeof record.userAgent === 'number') record.userAgent = userAgents[record.userAgent] ?? record.userAgent;
  }
  if (!records.every(isUnpacked)) throw new Error('payload breaks its schema: a user agent is missing');
  return records;
}

const isUnpacked = (record: JobPayload['records'][number]): record is NewRecord => typeof record.userAgent !== 'number';

/** Only the version: a payload of a newer release waits for a worker that knows it. */
export const versionedPayload = z.object({ v: z.number().int() });
