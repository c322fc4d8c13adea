/** Fields that several responses share. */
import { z } from 'zod';

export const time = z.string().meta({ override: { type: 'string', format: 'date-time' } });
export const day = z.string().meta({ override: { type: 'string', format: 'date' } });
export const month = z.string().meta({ override: { type: 'string', pattern: '^\\d{4}-\\d{2}$' } });
export const count = z.number().int().min(0);
export const nullable = z.string().nullable();
