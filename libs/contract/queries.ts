/** Path and query parameters of the read endpoints: strict, so that a typing error never widens an answer. */
import { z } from 'zod';
import { countDays, isDate, monthsBetween } from './calendar.ts';
import { importFormats } from './import.ts';
import { noticeHash } from './notice.ts';
import * as examples from './openapi/examples/names.ts';
import { described, storable } from './record.ts';
import { decision, dimensions, domainIdPattern, exportFormats } from './terms.ts';
import { uuidv7Pattern } from './uuid.ts';

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });

const date = z
  .string()
  .refine(isDate, 'must be a real date, YYYY-MM-DD')
  .refine((day) => day >= '2000-01-01' && day <= '2100-12-31', 'must be between 2000-01-01 and 2100-12-31')
  .meta({ override: { type: 'string', format: 'date' }, example: '2026-11-01' });

/** An invalid date is reported once, as invalid, not as out of order as well. */
const inOrder = ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
  !(from && to && isDate(from) && isDate(to) && from > to);
const outOfOrder = { path: ['from'], message: 'must not be after `to`' };

const cursor = z.string().min(1).max(256).meta({ description: 'continues after an earlier page: its `nextCursor`' });

const visitorId = z
  .string()
  .min(1)
  .max(128)
  .regex(storable, 'must be well-formed Unicode without NUL')
  .meta({ override: described });

/** A visitor's id where it is not in the path. */
export const visitorBody = z.strictObject({ visitorId }).meta({ id: 'VisitorBody' });

export const visitorPath = z.object({ visitorId: visitorId.meta({ example: examples.visitorId }) });

export const erasurePath = z.object({
  erasureId: z
    .string()
    .regex(/^ers_[A-Za-z0-9]{1,64}$/, 'must be ers_…')
    .meta({ example: examples.erasureId }),
});

export const domainPath = z.object({
  domainId: z.string().regex(domainIdPattern, 'must be 1–64 of A–Z a–z 0–9 _ -').meta({ example: examples.domainId }),
});

export const statsQuery = z
  .strictObject({
    from: date.meta({ description: 'first UTC day, inclusive' }),
    to: date.meta({ description: 'last UTC day, inclusive' }),
    interval: z
      .enum(['day', 'month'])
      .optional()
      .meta({ description: 'adds `series`: at most 366 days or 120 months' }),
    by: z.enum(dimensions).optional().meta({ description: 'adds `groups`: at most 366 days, and not with `interval`' }),
  })
  .refine(inOrder, outOfOrder)
  .refine(({ from, to, interval }) => interval !== 'day' || countDays(from, to) <= 366, {
    path: ['interval'],
    message: 'day allows at most 366 days',
    when: ({ issues }) => issues.length === 0,
  })
  .refine(({ from, to, interval }) => interval !== 'month' || monthsBetween(from, to).length <= 120, {
    path: ['interval'],
    message: 'month allows at most 120 months',
    when: ({ issues }) => issues.length === 0,
  })
  .refine(({ by, interval }) => by === undefined || interval === undefined, {
    path: ['by'],
    message: 'cannot be combined with `interval`',
  })
  .refine(({ from, to, by }) => by === undefined || countDays(from, to) <= 366, {
    path: ['by'],
    message: 'allows at most 366 days',
    when: ({ issues }) => issues.length === 0,
  });

const bot = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .optional()
  .meta({ description: 'only records that crawlers and other programs sent, or none of them' });

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

export const orgStatsQuery = z.strictObject({
  cursor: cursor.optional(),
  limit: wholeNumber(1, 1000).optional().meta({ description: 'default 500' }),
});

export const recordPath = domainPath.extend({
  recordId: z.string().regex(uuidv7Pattern, 'must be a UUIDv7').meta({ example: examples.recordId }),
});

const log = wholeNumber(1, 1_000_000_000)
  .optional()
  .meta({ description: 'an earlier log of the domain, by its number; default: the newest' });

export const logQuery = z.strictObject({ log });

const size = wholeNumber(1, 999_999_999_999_999);

export const consistencyQuery = z
  .strictObject({
    from: size.meta({ description: "the earlier checkpoint's size" }),
    to: size.meta({ description: "the later checkpoint's size" }),
    log,
  })
  .refine(({ from, to }) => from <= to, { ...outOfOrder, when: ({ issues }) => issues.length === 0 });

export const feedQuery = z.strictObject({
  from: wholeNumber(0, 999_999_999_999_999)
    .optional()
    .meta({ description: 'the first position that is wanted: `next` of the answer before; default 0' }),
  limit: wholeNumber(1, 1000).optional().meta({ description: 'default 1000' }),
  log: log.meta({
    description: 'the log that `from` is a position of: `log` of the answer before; default: the newest',
  }),
});

const exportParameters = z.strictObject({
  format: z.enum(exportFormats).optional().meta({ description: 'default ndjson' }),
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
      .meta({ description: 'continues after this record: the last one of an export that was cut off' }),
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
        description: 'continues after this record, `<domainId>/<id>`: the last one of an export that was cut off',
      }),
  })
  .refine(inOrder, outOfOrder);

export const noticePath = domainPath.extend({ hash: noticeHash.meta({ example: examples.noticeHash }) });

/** A key is named by the part of it that is shown. */
export const keyPath = domainPath.extend({
  prefix: z
    .string()
    .regex(/^ak_[A-Za-z0-9_-]{8}$/, 'must be the beginning of a key, `ak_` and 8 characters')
    .meta({ example: examples.keyPrefix }),
});

/** Of lists, newest first. */
export const listQuery = z.strictObject({
  limit: wholeNumber(1, 200).optional().meta({ description: 'default 50' }),
  cursor: cursor.optional(),
});

export const importQuery = z.strictObject({
  format: z.enum(importFormats).optional().meta({ description: 'default: as `Content-Type` says' }),
  dryRun: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({ description: 'only checks and counts' }),
});

export const noQuery = z.strictObject({});
