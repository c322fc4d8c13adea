/** What the endpoints answer. A handler's result is typed by these; nothing else leaves the service. */
import { z } from 'zod';
import { importErrorCodes, importLimits } from './import.ts';
import { count, month, nullable, time } from './response-fields.ts';
import { decision, scopes, sources } from './terms.ts';

export const receipt = z
  .object({
    id: z.string(),
    status: z.enum(['queued', 'persisted']),
    decidedAt: time,
    receivedAt: time,
    ignored: z.array(z.string()).optional().meta({ description: 'unknown fields that were left out' }),
    notice: z
      .literal('wanted')
      .optional()
      .meta({ description: 'the service does not hold the notice that the record names: put it' }),
  })
  .meta({ id: 'Receipt' });

export const shortRecord = z
  .object({ id: z.string(), domainId: z.string(), decision, decidedAt: time })
  .meta({ id: 'ShortRecord' });

export const fullRecord = z
  .object({
    id: z.string(),
    domainId: z.string(),
    decision,
    decidedAt: time,
    receivedAt: time,
    visitorId: nullable,
    preferences: z.record(z.string(), z.boolean()).nullable(),
    source: z.enum(sources),
    bannerVersion: nullable,
    policyVersion: nullable,
    language: nullable,
    pageUrl: nullable,
    country: nullable,
    ip: nullable,
    userAgent: nullable.meta({
      description:
        'of a domain with too many new ones in a day the family only, such as `family: Chrome, Android, mobile`',
    }),
    tcString: nullable,
    gppString: nullable,
    gpc: z.boolean().nullable(),
    metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable(),
    notice: nullable.meta({ description: 'SHA-256 of what the visitor was shown, 64 hex digits' }),
    variant: nullable.meta({ description: 'of an A/B test' }),
    bot: z.boolean().meta({ description: 'the user agent is that of a crawler or another program, not of a browser' }),
    erasedAt: time.nullable().meta({ description: 'when its personal fields were erased' }),
    log: z
      .number()
      .int()
      .min(1)
      .nullable()
      .meta({ description: "which of the domain's logs; null until it is sealed" }),
    position: count.nullable().meta({ description: 'its place in that log, from 0; null until it is sealed' }),
  })
  .meta({ id: 'FullRecord' });

export const recordsPage = z
  .object({
    domainId: z.string(),
    page: z.number().int().min(1),
    limit: z.number().int().min(1),
    total: count,
    totalPages: count,
    capped: z.boolean(),
    cap: z.object({ reason: z.literal('monthly_record_limit'), limit: count, used: count, resetsAt: time }).optional(),
    nextCursor: nullable,
    records: z.array(fullRecord),
  })
  .meta({ id: 'RecordsPage' });

const base64 = z.string().meta({ description: 'base64' });
const opening = z.object({
  salt: z.string().meta({ description: '32 hex digits' }),
  text: z.string().meta({ description: 'exactly the text that the entry commits to' }),
});

export const proofBundle = z
  .object({
    record: fullRecord,
    entry: z.string().meta({ description: "exactly the text whose hash is the log's leaf" }),
    opening: z.object({
      circumstances: opening,
      private: opening.nullable().meta({ description: 'null once the personal fields are erased' }),
    }),
    log: z.number().int().min(1),
    position: count,
    proof: z.array(base64).meta({ description: "base64, the leaf's sibling first" }),
    checkpoint: z.string().meta({ description: 'the signed note' }),
    verifierKeys: z.array(z.string()).meta({ description: 'every key that ever signed for this log, newest first' }),
    notice: nullable.meta({ description: 'what the visitor was shown, as it was sent' }),
    timestamp: z
      .object({ checkpoint: z.string(), index: count, size: count, path: z.array(base64), token: base64 })
      .nullable()
      .meta({ description: "a time-stamping authority's, of a checkpoint that covers the entry" }),
  })
  .meta({ id: 'ProofBundle' });

export const noticePut = z.object({ notice: z.string() }).meta({ id: 'NoticePut' });

export const imported = z
  .object({
    importId: z.string(),
    read: count.meta({ description: 'rows, without the header of a CSV and the last line of an export' }),
    queued: count.meta({ description: 'new ones, which are safe; with `dryRun` those that would be' }),
    known: count.meta({ description: 'stored before, or earlier in the file' }),
    rejected: count,
    errors: z
      .array(z.object({ row: z.int().min(1), code: z.enum(importErrorCodes), detail: z.string() }))
      .max(importLimits.errors)
      .meta({ description: 'the first 1,000 rows that were rejected' }),
    ignored: z
      .array(z.string())
      .max(importLimits.ignored)
      .optional()
      .meta({ description: 'fields and columns that were left out; absent where there are none' }),
  })
  .meta({ id: 'Imported' });

export const noticesPage = z
  .object({
    notices: z.array(
      z.object({
        notice: z.string().meta({ description: 'SHA-256, 64 hex digits' }),
        language: nullable.meta({ description: 'as the document says' }),
        version: nullable.meta({ description: 'as the document says' }),
        firstSeenAt: time,
        records: count.meta({ description: 'that ever named it, up to the last minute' }),
      }),
    ),
    nextCursor: nullable,
  })
  .meta({ id: 'NoticesPage' });

export const consistency = z
  .object({ log: z.number().int().min(1), from: count, to: count, proof: z.array(base64) })
  .meta({ id: 'Consistency' });

const position = count.meta({ description: 'its place in the log, from 0' });

export const feed = z
  .object({
    log: z.number().int().min(1).meta({ description: "which of the domain's logs the positions are of" }),
    entries: z.array(
      z.discriminatedUnion('type', [
        z.object({ position, type: z.literal('record'), record: fullRecord }),
        z.object({
          position,
          type: z.literal('erasure'),
          recordId: z.string().meta({ description: 'whose personal fields were erased' }),
          erases: count
            .nullable()
            .meta({ description: "that record's position, null where this log does not have it" }),
          erased: z
            .object({ log: z.number().int().min(1), position: count })
            .nullable()
            .meta({ description: 'where that record is, in this log or an earlier one; null once it has expired' }),
        }),
        z.object({
          position,
          type: z.literal('notice'),
          notice: z.string().meta({ description: 'SHA-256 of what visitors are shown, 64 hex digits' }),
        }),
        z.object({ position, type: z.literal('expired') }),
      ]),
    ),
    next: count.meta({ description: 'the next `from`' }),
    size: count.meta({ description: "the log's, as far as it is sealed" }),
  })
  .meta({ id: 'Feed' });

export const organization = z
  .object({
    organizationId: z.string(),
    name: z.string(),
    plan: z.object({ name: z.string(), consentLog: z.boolean(), monthlyRecordLimit: count.nullable() }),
    usage: z.object({
      month,
      used: count.meta({ description: "records of the month, without crawlers'" }),
      bots: count.meta({ description: "crawlers' records, as far as they are in statistics; they do not count" }),
      limit: count.nullable(),
    }),
    domains: z.array(
      z.object({
        domainId: z.string(),
        name: z.string(),
        archivedAt: time.optional().meta({ description: 'only of an archived one' }),
      }),
    ),
    scopes: z.array(z.enum(scopes)).meta({ description: 'what this access token may do' }),
  })
  .meta({ id: 'Organization' });

export const visitor = z
  .object({
    visitorId: z.string(),
    generatedAt: time,
    current: z
      .record(z.string(), z.object({ decision, preferences: fullRecord.shape.preferences, decidedAt: time }))
      .meta({ description: 'domain → the newest decision' }),
    records: z.array(fullRecord).meta({ description: 'newest first' }),
    notices: z.record(z.string(), z.string()).meta({ description: 'hash → what was shown, as it was sent' }),
    proofs: z.record(z.string(), z.string()).meta({ description: 'sealed record → its C2SP tlog-proof' }),
    verifierKeys: z.record(z.string(), z.array(z.string())).meta({ description: 'domain → the keys of its logs' }),
  })
  .meta({ id: 'Visitor' });

export const erasure = z
  .object({
    erasureId: z.string(),
    visitorId: nullable.meta({
      description: 'null when it is asked for after it is done: nothing is left of the visitor',
    }),
    state: z.enum(['running', 'done']),
    records: count.meta({ description: 'stored records that were erased' }),
    erasedAt: time.nullable(),
  })
  .meta({ id: 'Erasure' });

export type Visitor = z.infer<typeof visitor>;
export type Erasure = z.infer<typeof erasure>;
export type Receipt = z.infer<typeof receipt>;
export type ShortRecord = z.infer<typeof shortRecord>;
export type FullRecord = z.infer<typeof fullRecord>;
export type RecordsPage = z.infer<typeof recordsPage>;
export type ProofBundle = z.infer<typeof proofBundle>;
export type NoticePut = z.infer<typeof noticePut>;
export type Imported = z.infer<typeof imported>;
export type NoticesPage = z.infer<typeof noticesPage>;
export type Consistency = z.infer<typeof consistency>;
export type Feed = z.infer<typeof feed>;
export type FeedEntry = Feed['entries'][number];
export type Organization = z.infer<typeof organization>;
