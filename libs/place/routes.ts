/** The request that a page sends before it shows a banner. */
import { z } from 'zod';
import { answer } from '#libs/base/http/openapi';
import type { KeyRoutes } from '#libs/base/http/routes';
import { domainPath } from '#libs/base/terms/parameters';
import { nullable } from '#libs/base/terms/response-fields';

const place = z
  .object({
    country: nullable.meta({ description: 'two letters (ISO 3166-1); null if unknown' }),
    region: nullable.meta({
      description: 'such as `US-CA` (ISO 3166-2), for the countries in `REGION_COUNTRIES`; else null',
    }),
  })
  .meta({ id: 'Place' });

export const placeRoutes = {
  getPlace: {
    method: 'get',
    path: '/v1/consent/:domainId/place',
    auth: [],
    params: domainPath,
    answers: {
      200: answer(
        'The place',
        place,
        { country: 'US', region: 'US-CA' },
        {
          'Cache-Control': z.string().meta({ description: 'the browser alone may keep it, for an hour' }),
        },
      ),
    },
    refusals: ['invalid_request', 'origin_not_allowed', 'not_found', 'rate_limited'],
    tag: 'Record',
    summary: 'Get the country and region of the caller',
    description:
      'For the pages of the domain: no key is needed, and origins are checked as for records. The place is found as ' +
      'for a record, by the headers of a trusted proxy or by the address. It is neither stored nor logged.',
  },
} satisfies KeyRoutes;
