/** What a row of an import may say beyond the fields of a record. */
import { z } from 'zod';
import { recordFields, storable } from './record.ts';

const time = z.iso.datetime({ offset: true, error: 'must be a time with its zone, such as 2024-05-31T09:30:00.000Z' });

/** Fields of a row that a record's body does not have. */
export const importFields = z.object({
  decidedAt: time.optional(),
  receivedAt: time.optional(),
  /** its identity where it came from: the same one again is the same record */
  externalId: z
    .union([z.string().min(1).max(256).regex(storable), z.int()], 'must be a string of 1 to 256 characters')
    .optional(),
  ip: z.string().max(64).optional(),
  userAgent: z.string().regex(storable, 'must be well-formed Unicode without NUL').optional(),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'must be two letters')
    .optional(),
  bot: z.boolean().optional(),
});

export const compiledImportFields = z.compile(importFields);

/** Fields of a record's body that a row may have; every imported record has the source `import`. */
export const importedRecordFields: readonly string[] = [...recordFields].filter((field) => field !== 'source');
export const importedOwnFields: readonly string[] = Object.keys(importFields.shape);
/** All that a row may say. */
export const importedFields: ReadonlySet<string> = new Set([...importedRecordFields, ...importedOwnFields]);
/** What our own exports have beside it, which is not imported. */
export const exportedOnly: ReadonlySet<string> = new Set(['domainId', 'source', 'erasedAt', 'log', 'position']);
