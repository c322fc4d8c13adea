/** What pages send: decisions. */
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { answer, refusals } from '#libs/base/http/openapi';
import { domainPath } from '#libs/base/terms/parameters';
import { receipt, recordBody } from './contract.ts';
import * as examples from './examples.ts';

export const recordPaths: ZodOpenApiPathsObject = {
  '/v1/consent/{domainId}/record': {
    post: {
      operationId: 'record',
      summary: "Record a visitor's decision",
      description:
        'Give the record an `id` when the visitor decides, and repeat the request with it until it is answered: the same id is one record. While the clocks of the service do not agree, an id that is out of range gets a 503: repeat it later, unchanged. The key may be public, because it can only write.',
      tags: ['Record'],
      security: [{ apiKey: [] }],
      requestParams: { path: domainPath },
      requestBody: {
        required: true,
        content: { 'application/json': { schema: recordBody, example: examples.recordBody } },
      },
      responses: {
        202: answer('The record is safe: queued in Redis, or persisted in Postgres', receipt, examples.receipt),
        ...refusals(
          'invalid_json',
          'invalid_request',
          'id_time_out_of_range',
          'invalid_api_key',
          'origin_not_allowed',
          'payload_too_large',
          'unsupported_media_type',
          'rate_limited',
        ),
      },
    },
  },
};
