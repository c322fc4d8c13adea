/** What pages send: decisions, and that a banner was shown. */
import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { displayBody } from '../display.ts';
import { domainPath } from '../queries.ts';
import { recordBody } from '../record.ts';
import * as responses from '../responses.ts';
import { answer, refusals, requestId } from './parts.ts';

export const recordPaths: ZodOpenApiPathsObject = {
  '/v1/consent/{domainId}/record': {
    post: {
      operationId: 'record',
      summary: "Record a visitor's decision",
      tags: ['Record'],
      security: [{ apiKey: [] }],
      requestParams: { path: domainPath },
      requestBody: { required: true, content: { 'application/json': { schema: recordBody } } },
      responses: {
        202: answer('The record is safe: queued in Redis, or persisted in Postgres', responses.receipt),
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
  '/v1/consent/{domainId}/displays': {
    post: {
      operationId: 'countDisplay',
      summary: 'Count that a banner was shown; nothing about the visitor is kept',
      tags: ['Record'],
      security: [{ apiKey: [] }],
      requestParams: { path: domainPath },
      requestBody: { required: false, content: { 'application/json': { schema: displayBody } } },
      responses: {
        204: { description: 'It is counted, but for crawlers', headers: z.object({ 'X-Request-Id': requestId }) },
        ...refusals(
          'invalid_json',
          'invalid_request',
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
