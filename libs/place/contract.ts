/** The place of whoever asks. */
import { z } from 'zod';
import { nullable } from '#libs/base/terms/response-fields';

export const place = z
  .object({
    country: nullable.meta({ description: 'two letters (ISO 3166-1); null if unknown' }),
    region: nullable.meta({
      description: 'such as `US-CA` (ISO 3166-2), for the countries in `REGION_COUNTRIES`; else null',
    }),
  })
  .meta({ id: 'Place' });
