/**
 * Path and query parameters of all rooms. They are strict, so that a typing error never returns more than was asked for.
 */
import { z } from 'zod';
import { isDate } from './calendar.ts';
import * as examples from './example-names.ts';
import { domainIdPattern } from './terms.ts';

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });

export const date = z
  .string()
  .refine(isDate, 'must be a real date, YYYY-MM-DD')
  .refine((day) => day >= '2000-01-01' && day <= '2100-12-31', 'must be between 2000-01-01 and 2100-12-31')
  .meta({ override: { type: 'string', format: 'date' }, example: '2026-11-01' });

/** An invalid date is reported only as invalid, not as out of order as well. */
export const inOrder = ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
  !(from && to && isDate(from) && isDate(to) && from > to);
export const outOfOrder = { path: ['from'], message: 'must not be after `to`' };

export const cursor = z
  .string()
  .min(1)
  .max(256)
  .meta({ description: 'continues after an earlier page: its `nextCursor`, with the same filters' });

export const domainPath = z.object({
  domainId: z.string().regex(domainIdPattern, 'must be 1–64 of A–Z a–z 0–9 _ -').meta({ example: examples.domainId }),
});

/** For lists, newest first. */
export const listQuery = z.strictObject({
  limit: wholeNumber(1, 200).optional().meta({ description: 'default 50' }),
  cursor: cursor.optional(),
});
