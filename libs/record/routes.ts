/** The endpoint that records decisions. */
import { answer, handling, preferenceApplied } from '#libs/base/http/openapi';
import type { KeyRoutes } from '#libs/base/http/routes';
import { domainPath } from '#libs/base/terms/parameters';
import { receipt, recordBody } from './contract.ts';
import * as examples from './examples.ts';

/** Describes the input that is accepted beyond the body's schema. */
const lenientBody =
  'An invalid detail does not lose the decision. `null` means absent, and `[]` in place of a map is an empty map. ' +
  'In `preferences`, `"true"`, `"granted"`, `"yes"` and 1 mean true, and `"false"`, `"denied"`, `"no"` and 0 mean ' +
  'false; any other value is refused only in a `custom` record. If any other field except `decision` and `id` ' +
  'breaks its rule, it is corrected if its meaning is clear, such as `en_US`, a number as `visitorId`, or a path as ' +
  '`pageUrl` if there is an `Origin`. Otherwise it is left out and listed in `ignored`. With `Prefer: ' +
  'handling=strict`, the response to such a body is a 400 instead.';

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
      'Create an `id` when the visitor decides, and repeat the request with the same `id` until you get a response: ' +
      'requests with the same id are one record. If the time of the id is out of range while the clocks of the ' +
      'service do not agree, the response is a 503: send the record again later, unchanged. The key may be public, ' +
      'because it can only write. ' +
      lenientBody,
  },
} satisfies KeyRoutes;
