/** What pages send: decisions. */
import { answer, handling, preferenceApplied } from '#libs/base/http/openapi';
import type { KeyRoutes } from '#libs/base/http/routes';
import { domainPath } from '#libs/base/terms/parameters';
import { receipt, recordBody } from './contract.ts';
import * as examples from './examples.ts';

/** What is taken beside what the schema of the body says. */
const lenientBody =
  'A detail never costs the record: null is absence, and `[]` an empty map. In `preferences`, `"true"`, `"granted"`, `"yes"` and 1 mean true, `"false"`, `"denied"`, `"no"` and 0 false, and anything else refuses a `custom` record only. Every other field but `decision` and `id` that breaks its rule is mended if its meaning is plain, such as `en_US`, a number as `visitorId`, or a path as `pageUrl` if there is an `Origin`; else it is left out, and named in `ignored`. With `Prefer: handling=strict` such a body gets a 400 instead.';

export const recordRoutes = {
  record: {
    method: 'post',
    path: '/v1/consent/:domainId/record',
    auth: ['apiKey'],
    params: domainPath,
    headers: handling,
    upload: {
      required: true,
      content: { 'application/json': { schema: recordBody, example: examples.recordBody } },
    },
    answers: {
      202: answer(
        'The record is safe: queued in Redis, or persisted in Postgres',
        receipt,
        examples.receipt,
        preferenceApplied,
      ),
    },
    refusals: [
      'invalid_json',
      'invalid_request',
      'id_time_out_of_range',
      'invalid_api_key',
      'origin_not_allowed',
      'payload_too_large',
      'unsupported_media_type',
      'rate_limited',
    ],
    tag: 'Record',
    summary: "Record a visitor's decision",
    description:
      'Give the record an `id` when the visitor decides, and repeat the request with it until it is answered: the same id is one record. While the clocks of the service do not agree, an id that is out of range gets a 503: repeat it later, unchanged. The key may be public, because it can only write. ' +
      lenientBody,
  },
} satisfies KeyRoutes;
