/**
 * The payload that API and worker share: a batch of records.
 * A worker must accept what the previous release queued, so a new field is optional and a new shape is a new version.
 */
import { z } from 'zod';
import { type NewRecord, newRecord, noticeHash } from './contract.ts';

export const jobVersion = 4;
/** A job without imported records: workers of the previous release take it too. */
const versionOfRecorded = 3;

/** index into the list of shared texts */
const place = z.int().nonnegative();

const payload = z.object({
  /** 1: every record holds all of its texts itself; 2: without notice and variant; 3: without importedAt */
  v: z.union([z.literal(1), z.literal(2), z.literal(versionOfRecorded), z.literal(jobVersion)]),
  /** each text once: under load a few sites and browsers repeat */
  domainIds: z.array(newRecord.shape.domainId).optional(),
  userAgents: z.array(z.string()).optional(),
  notices: z.array(noticeHash).optional(),
  records: z
    .array(
      newRecord.extend({
        domainId: z.union([newRecord.shape.domainId, place]),
        userAgent: z.union([z.string(), place]).optional(),
        notice: z.union([noticeHash, place]).optional(),
      }),
    )
    .min(1),
});

export type JobPayload = z.infer<typeof payload>;

const compiled = z.compile(payload);

export function packJob(records: NewRecord[]): JobPayload {
  const [domainIds, userAgents, notices] = [listOnce(), listOnce(), listOnce()];
  const packed = records.map((record) => ({
    ...record,
    domainId: domainIds.placeOf(record.domainId),
    userAgent: record.userAgent === undefined ? undefined : userAgents.placeOf(record.userAgent),
    notice: record.notice === undefined ? undefined : notices.placeOf(record.notice),
  }));
  return {
    v: records.some(({ importedAt }) => importedAt !== undefined) ? jobVersion : versionOfRecorded,
    domainIds: domainIds.texts(),
    userAgents: userAgents.texts(),
    notices: notices.texts(),
    records: packed,
  };
}

function listOnce() {
  const places = new Map<string, number>();
  return {
    placeOf: (text: string): number => {
      const known = places.get(text);
      if (known !== undefined) return known;
      places.set(text, places.size);
      return places.size - 1;
    },
    texts: () => [...places.keys()],
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

/** Only the version: a payload of a newer release waits for a worker that knows it. */
export const versionedPayload = z.object({ v: z.number().int() });
