/** The log: pages of records, the feed, exports, and the overview of all domains. */
import { z } from 'zod';
import { uuidv7Pattern } from '#libs/base/terms/calendar';
import { cursor, date, inOrder, outOfOrder, wholeNumber } from '#libs/base/terms/parameters';
import { count, day, nullable, time } from '#libs/base/terms/response-fields';
import { decision, domainIdPattern, exportFormats } from '#libs/base/terms/terms';
import { fullRecord, logNumber, visitorId } from '#libs/record/contract';
import { breakdown, counts } from '#libs/stats/contract';

const bot = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .optional()
  .meta({ description: '`true`: only records from crawlers and other programs; `false`: none of these' });

export const recordsQuery = z
  .strictObject({
    page: wholeNumber(1, 1_000_000_000).optional(),
    limit: wholeNumber(1, 200).optional().meta({ description: 'default 50' }),
    cursor: cursor.optional(),
    decision: decision.optional(),
    from: date.optional(),
    to: date.optional(),
    visitorId: visitorId.optional(),
    bot,
  })
  .refine(inOrder, outOfOrder)
  .refine(({ page, cursor }) => !(page && cursor), { path: ['cursor'], message: 'cannot be combined with `page`' });

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
export type RecordsPage = z.infer<typeof recordsPage>;

export const orgStatsQuery = z.strictObject({
  cursor: cursor.optional(),
  limit: wholeNumber(1, 1000).optional().meta({ description: 'default 500' }),
});

const shortRecord = z
  .object({ id: z.string(), domainId: z.string(), decision, decidedAt: time })
  .meta({ id: 'ShortRecord' });
export type ShortRecord = z.infer<typeof shortRecord>;

const period = z.object({ from: day, to: day });

export const orgStats = z
  .object({
    organizationId: z.string(),
    period,
    total: count,
    breakdown,
    daily: z.array(z.object({ date: day, total: count, ...counts })).length(30),
    recordsPeriod: period,
    recordsTotal: count,
    records: z.union([z.array(fullRecord), z.array(shortRecord)]),
    nextCursor: nullable,
  })
  .meta({ id: 'OrgStats' });
export type OrgStats = z.infer<typeof orgStats>;

export const feedQuery = z.strictObject({
  from: wholeNumber(0, 999_999_999_999_999)
    .optional()
    .meta({ description: 'the first position you want: `next` of the previous response; default 0' }),
  limit: wholeNumber(1, 1000).optional().meta({ description: 'default 1000' }),
  log: logNumber.meta({
    description: 'the log to which the position `from` belongs: `log` of the previous response; default: the newest',
  }),
});

const position = count.meta({ description: 'its place in the log, from 0' });

export const feed = z
  .object({
    log: z.number().int().min(1).meta({ description: "the number of the domain's log to which the positions belong" }),
    entries: z.array(
      z.discriminatedUnion('type', [
        z.object({ position, type: z.literal('record'), record: fullRecord }),
        z.object({
          position,
          type: z.literal('erasure'),
          recordId: z.string().meta({ description: 'the record whose personal fields were erased' }),
          erases: count.nullable().meta({ description: "that record's position; null if it is not in this log" }),
          erased: z
            .object({ log: z.number().int().min(1), position: count })
            .nullable()
            .meta({ description: 'the place of that record, in this log or an earlier one; null once it has expired' }),
        }),
        z.object({
          position,
          type: z.literal('notice'),
          notice: z.string().meta({ description: 'SHA-256 of what visitors were shown, 64 hex digits' }),
        }),
        z.object({ position, type: z.literal('expired') }),
      ]),
    ),
    next: count.meta({ description: 'pass it as `from` in the next request' }),
    size: count.meta({ description: 'the number of sealed entries in this log' }),
  })
  .meta({ id: 'Feed' });
export type Feed = z.infer<typeof feed>;
export type FeedEntry = Feed['entries'][number];

const exportParameters = z.strictObject({
  format: z.enum(exportFormats).optional().meta({ description: 'default `ndjson`' }),
  decision: decision.optional(),
  from: date.optional(),
  to: date.optional(),
  visitorId: visitorId.optional(),
  bot,
});

const lowerCase = (id: string) => id.toLowerCase();

export const exportQuery = exportParameters
  .extend({
    after: z
      .string()
      .regex(uuidv7Pattern, 'must be the id of a record')
      .transform(lowerCase)
      .optional()
      .meta({ description: 'continues after this record, such as the last one of an export that was cut off' }),
  })
  .refine(inOrder, outOfOrder);

const afterInOrganization = 'must be <domainId>/<id of a record>';

export const organizationExportQuery = exportParameters
  .extend({
    after: z
      .string()
      .regex(/^[^/]*\/[^/]*$/, afterInOrganization)
      .transform((value) => {
        const [domainId = '', id = ''] = value.split('/');
        return { domainId, id: lowerCase(id) };
      })
      .refine(({ domainId, id }) => domainIdPattern.test(domainId) && uuidv7Pattern.test(id), afterInOrganization)
      .optional()
      .meta({
        override: { type: 'string' },
        description:
          'continues after this record, `<domainId>/<id>`, such as the last one of an export that was cut off',
      }),
  })
  .refine(inOrder, outOfOrder);

export const importsPage = z
  .object({
    imports: z.array(
      z.object({
        importId: z.string(),
        domainId: z.string(),
        at: time.meta({ description: 'when the import ended' }),
        actor: z.string(),
        read: count,
        queued: count,
        known: count,
        rejected: count,
        isComplete: z.boolean().meta({ description: 'whether every row was read' }),
      }),
    ),
    nextCursor: nullable,
  })
  .meta({ id: 'ImportsPage' });
export type ImportsPage = z.infer<typeof importsPage>;
