/** An import: its formats, limits, rows and errors, and its response. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { isHashedAddress } from '#libs/base/http/client-address';
import { count } from '#libs/base/terms/response-fields';
import { parseCountry, parseFullRegion } from '#libs/place/codes';
import { recordFields, storable } from '#libs/record/contract';
import { isReadable } from './encodings.ts';
import { formatProblem, isTimeZone } from './time-rules.ts';

export const importFormats = ['ndjson', 'csv'] as const;
export type ImportFormat = (typeof importFormats)[number];

export const importTypes: Record<ImportFormat, string> = { ndjson: 'application/x-ndjson', csv: 'text/csv' };

export const importLimits = {
  rows: 250_000,
  bytes: 256 * 1024 * 1024,
  /** of one row; a record whose fields all have their maximum length has a quarter of it */
  rowBytes: 128 * 1024,
  /** errors in the response */
  errors: 1_000,
  /** in the response, how many names `ignored` (unknown fields) may list, and how many `fieldsIgnored` (known ones) */
  ignored: 100,
};

/** The day from which the GDPR applies: no consent log is older. */
export const importedSince = Date.parse('2018-05-25T00:00:00.000Z');

const importErrorCodes = ['invalid_json', 'invalid_request', 'time_out_of_range', 'past_retention'] as const;
export type ImportErrorCode = (typeof importErrorCodes)[number];

/** Why a row is not imported. */
export interface Refusal {
  code: ImportErrorCode;
  detail: string;
}

export const importQuery = z.strictObject({
  format: z.enum(importFormats).optional().meta({ description: 'default: according to the `Content-Type`' }),
  dryRun: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({ description: 'only checks and counts the rows, and imports nothing' }),
  timeFormat: z
    .string()
    .max(64)
    .superRefine((format, ctx) => {
      const problem = formatProblem(format);
      if (problem === undefined) return;
      const message = `must be \`unix\`, \`unix-ms\`, or a format such as dd/MM/yyyy HH:mm; ${problem}`;
      ctx.addIssue({ code: 'custom', message });
    })
    .optional()
    .meta({
      description: 'how the file writes times, such as `dd/MM/yyyy HH:mm`, `unix` or `unix-ms`; default: RFC 3339',
      override: { type: 'string', maxLength: 64 },
      example: 'dd/MM/yyyy HH:mm',
    }),
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin')
    .optional()
    .meta({
      description: 'the time zone of times without one, by its IANA name; default `UTC`',
      override: { type: 'string', maxLength: 64 },
      example: 'Europe/Berlin',
    }),
  encoding: z
    .string()
    .max(32)
    .refine(isReadable, 'must be an encoding such as utf-8, utf-16 or latin1')
    .optional()
    .meta({
      description:
        'of the file, such as `utf-16` or `latin1`; default: the `charset` of its type, or `utf-8`. A byte order mark overrides it',
      override: { type: 'string', maxLength: 32 },
      example: 'latin1',
    }),
});

export const imported = z
  .object({
    importId: z.string(),
    read: count.meta({
      description: 'rows read, not counting the header of a CSV file and the last line of an export',
    }),
    queued: count.meta({ description: 'new records, which are safe; with `dryRun`, those that would be queued' }),
    known: count.meta({ description: 'rows that were already stored, or came earlier in the file' }),
    rejected: count,
    errors: z
      .array(z.object({ row: z.int().min(1), code: z.enum(importErrorCodes), detail: z.string() }))
      .max(importLimits.errors)
      .meta({ description: 'the first 1,000 rows that were rejected' }),
    ignored: z
      .array(z.string())
      .max(importLimits.ignored)
      .optional()
      .meta({ description: 'unknown fields and columns, which were left out; absent where there are none' }),
    fieldsIgnored: z.record(z.string(), z.int().min(1)).optional().meta({
      description:
        'fields left out because they broke their rule, or stood for null (`NULL`) in a CSV → how many rows lost them. An entry of a map is `metadata.shop`; the first 100, and `…` for the rest; absent where there are none',
    }),
  })
  .meta({ id: 'Imported' });
export type Imported = z.infer<typeof imported>;

const rowTime = z.iso.datetime({
  offset: true,
  error: 'must be a time with its zone, such as 2024-05-31T09:30:00.000Z',
});

/** Fields of a row that a record's body does not have. */
export const rowOnlyFields = z.object({
  decidedAt: rowTime.optional(),
  receivedAt: rowTime.optional(),
  /** the row's identity at its source: rows with the same one and the same `decidedAt` are one record */
  externalId: z
    .union([z.string().min(1).max(256).regex(storable), z.int()], 'must be a string of 1 to 256 characters')
    .optional(),
  ip: z
    .string()
    .refine((text) => isIP(text) > 0 || isHashedAddress(text), 'must be an IP address, or one that was hashed')
    .optional(),
  userAgent: z.string().regex(storable, 'must be well-formed Unicode without NUL').optional(),
  country: z
    .string()
    .refine((text) => parseCountry(text) !== undefined, 'must be two letters')
    .optional(),
  region: z
    .string()
    .refine((text) => parseFullRegion(text) !== undefined, 'must be a code such as US-CA')
    .optional(),
  bot: z.boolean().optional(),
});

/** They say when it was decided and which record it is: a row that breaks their rule is rejected. */
export const decidingFields = ['decidedAt', 'externalId'];

/** Fields of a record's body that a row may have; every imported record has the source `import`. */
export const importedRecordFields: readonly string[] = [...recordFields].filter((field) => field !== 'source');
export const importedOwnFields: readonly string[] = Object.keys(rowOnlyFields.shape);
/** All fields of a row. */
export const importedFields: ReadonlySet<string> = new Set([...importedRecordFields, ...importedOwnFields]);
/** Fields of our own exports that are not imported. */
export const exportedOnly: ReadonlySet<string> = new Set(['domainId', 'source', 'erasedAt', 'log', 'position']);
