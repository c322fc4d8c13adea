/** The record: request, response, queued form, and the form that reads return. */
import { z } from 'zod';
import { uuidv7Pattern } from '#libs/base/terms/calendar';
import * as examples from '#libs/base/terms/example-names';
import { domainPath, wholeNumber } from '#libs/base/terms/parameters';
import { count, nullable, time } from '#libs/base/terms/response-fields';
import { decision, domainIdPattern, models, sources } from '#libs/base/terms/terms';
import { atMost, isPageUrl, mapLimits, tooMany, whyNotPageUrl, withinBytes } from './rules.ts';

/** Postgres stores neither NUL nor lone surrogates, so neither is accepted. */
export const storable = /^[^\0\p{Cs}]*$/u;
/**
 * The pattern that the API description shows in place of `storable`. It omits the surrogates, because not every OpenAPI
 * tool supports \p{Cs}.
 */
const described = { pattern: '^[^\\u0000]*$' };
const text = (max: number) =>
  z.string().max(max).regex(storable, 'must be well-formed Unicode without NUL').meta({ override: described });

/** The SHA-256 of a notice's bytes, by which a record refers to it. */
export const noticeHash = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits in lower case');

/** Names of categories and metadata. The three that would reach an object's prototype are rejected. */
const name = z
  .string()
  .regex(
    /^(?!(?:__proto__|constructor|prototype)$)[A-Za-z0-9_.:-]{1,64}$/,
    'must be 1–64 of A–Z a–z 0–9 _ . : - and not __proto__, constructor or prototype',
  );

const safe = 'must be a safe number, of at most 9007199254740991';
const safeNumber = z
  .number('must be a string, a number or a boolean')
  .min(-Number.MAX_SAFE_INTEGER, safe)
  .max(Number.MAX_SAFE_INTEGER, safe);

export const preferences = z
  .record(name, z.boolean())
  .refine(atMost(mapLimits.preferences), tooMany(mapLimits.preferences))
  .meta({ maxProperties: mapLimits.preferences });
const metadata = z
  .record(name, z.union([text(1024), safeNumber, z.boolean()]))
  .refine(atMost(mapLimits.metadata), tooMany(mapLimits.metadata))
  .refine(withinBytes(1024), 'must be at most 1 KiB as JSON')
  .meta({ maxProperties: mapLimits.metadata });

export const visitorId = text(128).min(1);

export const recordBody = z
  .object({
    decision: decision.meta({ description: 'what the visitor decided; `withdraw` withdraws earlier consent' }),
    id: z
      .string()
      .regex(uuidv7Pattern, 'must be a UUIDv7')
      .optional()
      .meta({
        description:
          'a UUIDv7 created when the visitor decides. Its time becomes `decidedAt`, and must be between 30 days ago ' +
          'and 5 minutes ahead. A request with the same id is the same record',
      }),
    visitorId: visitorId.optional().meta({ description: 'the pseudonymous id of the visitor' }),
    preferences: preferences.optional().meta({ description: 'category → allowed' }),
    source: z.enum(sources).optional().meta({ description: 'where the decision was made; default `banner`' }),
    bannerVersion: text(64).optional(),
    policyVersion: text(64).optional(),
    language: z
      .string()
      .max(35)
      .regex(/^(?:[A-Za-z]{2,8}|[IXix](?=-))(?:-[A-Za-z0-9]{1,8})*$/, 'must be a BCP 47 language tag')
      .optional(),
    pageUrl: z
      .string()
      .refine(isPageUrl, { error: ({ input }) => whyNotPageUrl(String(input)) })
      .optional()
      .meta({
        override: { pattern: '^[A-Za-z][A-Za-z0-9+.-]*://' },
        description:
          'the URL of a page or an app: any `scheme://` except `javascript`, `data`, `blob`, `file` and `about`, at ' +
          'most 2048 characters without query and fragment. It is stored without query, fragment, user and password',
      }),
    tcString: text(4096).optional(),
    gppString: text(4096).optional(),
    gpc: z.boolean().optional().meta({ description: 'Global Privacy Control; `Sec-GPC: 1` sets it too' }),
    metadata: metadata.optional().meta({ description: 'a flat map of at most 1 KiB as JSON' }),
    notice: noticeHash.optional().meta({ description: 'SHA-256 of what the visitor was shown' }),
    variant: text(64).optional().meta({ description: 'the variant of an A/B test' }),
    model: z
      .enum(models)
      .optional()
      .meta({
        description:
          'under which model the visitor decided: `opt_in`, nothing runs before consent; `opt_out`, everything runs ' +
          'until the visitor objects; `none`, nobody is asked. A record with `opt_out` or `none` and the source `gpc` ' +
          'is stored without address, user agent, `pageUrl` and `metadata`',
      }),
  })
  .meta({
    id: 'RecordBody',
    description:
      "One visitor's decision. The description of the operation says what is accepted beyond these rules. What is " +
      'left out is listed in `ignored`.',
  });

export type RecordBody = z.infer<typeof recordBody>;

export const recordFields: ReadonlySet<string> = new Set(Object.keys(recordBody.shape));

/** A record on its way to Postgres, in a job or passed to `persist`. Absent values are omitted. */
export const newRecord = z.object({
  id: z.string().regex(uuidv7Pattern),
  domainId: z.string().regex(domainIdPattern),
  decision,
  /** RFC 3339 UTC with milliseconds */
  receivedAt: z.string(),
  /** absent: `banner` */
  source: z.enum(sources).optional(),
  visitorId: z.string().optional(),
  preferences: z.record(z.string(), z.boolean()).optional(),
  bannerVersion: z.string().optional(),
  policyVersion: z.string().optional(),
  language: z.string().optional(),
  pageUrl: z.string().optional(),
  country: z.string().optional(),
  ip: z.string().optional(),
  userAgent: z.string().optional(),
  tcString: z.string().optional(),
  gppString: z.string().optional(),
  gpc: z.boolean().optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  notice: noticeHash.optional(),
  variant: z.string().optional(),
  region: z.string().optional(),
  model: z.enum(models).optional(),
  bot: z.boolean().optional(),
  /** RFC 3339 UTC with milliseconds; only of imported records */
  importedAt: z.string().optional(),
  /** connects the job, and a rejected record, with the request's response and log; not stored with the record */
  requestId: z.string().optional(),
});

export type NewRecord = z.infer<typeof newRecord>;

export const receipt = z
  .object({
    id: z.string(),
    status: z.enum(['queued', 'persisted']),
    decidedAt: time,
    receivedAt: time.meta({
      description: 'when this request arrived; after a retry, the stored record keeps that of the first request',
    }),
    ignored: z
      .array(z.string())
      .optional()
      .meta({
        description:
          'what was left out because it is unknown or breaks its rule: fields, or single entries of a map, such as ' +
          '`metadata.shop`; at most 20, then `…`',
      }),
    notice: z
      .literal('wanted')
      .optional()
      .meta({ description: "the service does not have the record's notice yet: upload it" }),
  })
  .meta({ id: 'Receipt' });
export type Receipt = z.infer<typeof receipt>;

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
        'only its family, such as `family: Chrome, Android, mobile`, if the domain sent too many new ones that day',
    }),
    tcString: nullable,
    gppString: nullable,
    gpc: z.boolean().nullable(),
    metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable(),
    notice: nullable.meta({ description: 'SHA-256 of what the visitor was shown, 64 hex digits' }),
    variant: nullable.meta({ description: 'the variant of an A/B test' }),
    region: nullable.meta({ description: 'such as `US-CA` (ISO 3166-2), for the countries in `REGION_COUNTRIES`' }),
    model: z.enum(models).nullable().meta({ description: 'under which model the visitor decided' }),
    bot: z.boolean().meta({ description: 'sent by a crawler or another program that is not a browser' }),
    erasedAt: time.nullable().meta({ description: 'when its personal fields were erased' }),
    log: z
      .number()
      .int()
      .min(1)
      .nullable()
      .meta({ description: "the number of the domain's log that contains it; null until it is sealed" }),
    position: count.nullable().meta({ description: 'its place in that log, from 0; null until it is sealed' }),
  })
  .meta({ id: 'FullRecord' });
export type FullRecord = z.infer<typeof fullRecord>;

export const recordPath = domainPath.extend({
  recordId: z.string().regex(uuidv7Pattern, 'must be a UUIDv7').meta({ example: examples.recordId }),
});

export const logNumber = wholeNumber(1, 1_000_000_000)
  .optional()
  .meta({ description: 'the number of an earlier log of the domain; default: the newest' });

export const logQuery = z.strictObject({ log: logNumber });
