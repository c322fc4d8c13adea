/**
 * The payload that API and worker share: a batch of records.
 * A worker must accept what the previous release queued, so a new field is optional and a new shape is a new version.
 */
import { z } from 'zod';
import { newRecord } from './record.ts';

export const jobVersion = 1;

export const jobPayload = z.compile(z.object({ v: z.literal(jobVersion), records: z.array(newRecord).min(1) }));

export type JobPayload = z.infer<typeof jobPayload>;

/** Only the version: a payload of a newer release waits for a worker that knows it. */
export const versionedPayload = z.object({ v: z.number().int() });
