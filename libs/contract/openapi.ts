/** The OpenAPI 3.1 document, made from the schemas that validate: what it says is what the service does. */
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { type ProblemCode, problemBody, problems } from './problem.ts';
import {
  consistencyQuery,
  domainPath,
  logQuery,
  orgStatsQuery,
  recordPath,
  recordsQuery,
  statsQuery,
} from './queries.ts';
import { recordBody } from './record.ts';
import * as responses from './responses.ts';

/** of the API, not of the release */
const version = '1.0.0';

const requestId = z
  .string()
  .meta({ description: "the request's id: the caller's own `X-Request-Id` where it sent one" });
const retryAfter = z.string().meta({ description: 'seconds' });
const statsSource = z.enum(['redis', 'postgres']).meta({ description: 'where the counts came from' });

const withStatus = (codes: readonly ProblemCode[], status: number): ProblemCode[] =>
  codes.filter((code) => problems[code].status === status);

/** One response per status, with the codes that it may carry. */
function refusals(...codes: ProblemCode[]) {
  const all = [...codes, 'internal_error', 'unavailable'] as const;
  const byStatus = new Map(all.map((code) => [problems[code].status, withStatus(all, problems[code].status)]));
  return Object.fromEntries(
    Array.from(byStatus, ([status, group]) => [
      String(status),
      {
        description: group.map((code) => `\`${code}\`: ${problems[code].title}`).join('\n\n'),
        headers: z.object({
          'X-Request-Id': requestId,
          ...([409, 429, 503].includes(status) && { 'Retry-After': retryAfter }),
          ...(status === 401 && !group.includes('invalid_api_key') && { 'WWW-Authenticate': z.string() }),
        }),
        content: {
          'application/problem+json': {
            schema: problemBody.extend({ code: z.enum(group), status: z.literal(status) }),
          },
        },
      },
    ]),
  );
}

const answer = (description: string, schema: z.ZodType, headers: Record<string, z.ZodType> = {}) => ({
  description,
  headers: z.object({ 'X-Request-Id': requestId, ...headers }),
  content: { 'application/json': { schema } },
});

const plain = (description: string, mediaType: string, headers: Record<string, z.ZodType> = {}) => ({
  description,
  headers: z.object({ 'X-Request-Id': requestId, ...headers }),
  content: { [mediaType]: { schema: z.string() } },
});

/** Groups of three digits are segments of their own, so it may have slashes, which are not escaped. */
const tile = z.string().meta({
  description:
    'number in groups of three digits, all but the last with `x` (`x001/234`); a partial tile has its width (`000.p/17`)',
});

const bearerCodes = ['missing_token', 'invalid_token', 'invalid_request', 'rate_limited'] as const;
const recordCodes = ['domain_not_found', 'plan_feature_required', 'record_limit_reached', 'record_not_found'] as const;
const read = (operation: Omit<ZodOpenApiOperationObject, 'security'>): ZodOpenApiOperationObject => ({
  ...operation,
  security: [{ accessToken: [] }],
});

export const createOpenApi = () =>
  createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Assent',
      version,
      description: 'Records consent decisions from a website widget, and serves them as statistics and as a log.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'Record', description: 'for widgets, with the API key of a domain' },
      { name: 'Read', description: 'for dashboards, with an access token of an organization' },
      { name: 'Log', description: 'the sealed log: checkpoints and proofs' },
      { name: 'Reference', description: 'the API description' },
    ],
    paths: {
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
      '/v1/consent/org-stats': {
        get: read({
          operationId: 'getOrganizationStats',
          summary: 'Counters of the last 30 days and raw records of the last 7, over all domains',
          tags: ['Read'],
          requestParams: { query: orgStatsQuery },
          responses: {
            200: answer("The organization's statistics", responses.orgStats, {
              'X-Stats-Source': statsSource,
              ETag: z
                .string()
                .optional()
                .meta({ description: 'send it as `If-None-Match` to ask whether a total moved' }),
            }),
            304: { description: 'No total has moved since the answer with this `ETag`' },
            ...refusals(...bearerCodes),
          },
        }),
      },
      '/v1/consent/{domainId}/stats': {
        get: read({
          operationId: 'getDomainStats',
          summary: 'Counters of a domain over a range of UTC days',
          tags: ['Read'],
          requestParams: { path: domainPath, query: statsQuery },
          responses: {
            200: answer("The domain's statistics", responses.domainStats, { 'X-Stats-Source': statsSource }),
            ...refusals(...bearerCodes, 'domain_not_found'),
          },
        }),
      },
      '/v1/consent/{domainId}/records': {
        get: read({
          operationId: 'getRecords',
          summary: 'A page of the log, newest first',
          tags: ['Read'],
          requestParams: { path: domainPath, query: recordsQuery },
          responses: {
            200: answer('A page of records', responses.recordsPage),
            ...refusals(...bearerCodes, 'domain_not_found', 'plan_feature_required'),
          },
        }),
      },
      '/v1/consent/{domainId}/records/{recordId}': {
        get: read({
          operationId: 'getRecord',
          summary: 'One record, with its place in the log',
          tags: ['Read'],
          requestParams: { path: recordPath, query: logQuery },
          responses: {
            200: answer('The record', responses.fullRecord),
            ...refusals(...bearerCodes, ...recordCodes),
          },
        }),
      },
      '/v1/consent/{domainId}/records/{recordId}/proof': {
        get: read({
          operationId: 'getProof',
          summary: 'Proof that a record is in the log, against its newest checkpoint',
          tags: ['Log'],
          requestParams: { path: recordPath, query: logQuery },
          responses: {
            200: {
              description: 'The proof: a C2SP tlog-proof, or as JSON with all that the entry commits to',
              headers: z.object({ 'X-Request-Id': requestId }),
              content: {
                'text/plain': { schema: z.string() },
                'application/json': { schema: responses.proofBundle },
              },
            },
            ...refusals(...bearerCodes, ...recordCodes, 'not_found', 'not_sealed_yet', 'expired'),
          },
        }),
      },
      '/v1/consent/{domainId}/log/checkpoint': {
        get: read({
          operationId: 'getCheckpoint',
          summary: 'The newest signed size and root of the log',
          tags: ['Log'],
          requestParams: { path: domainPath, query: logQuery },
          responses: {
            200: plain('A C2SP signed note', 'text/plain', {
              'Last-Modified': z.string().meta({ description: 'when it was signed' }),
            }),
            ...refusals(...bearerCodes, 'domain_not_found', 'not_found'),
          },
        }),
      },
      '/v1/consent/{domainId}/log/key': {
        get: read({
          operationId: 'getVerifierKeys',
          summary: 'Every key that ever signed for the log, newest first, a line each',
          tags: ['Log'],
          requestParams: { path: domainPath, query: logQuery },
          responses: {
            200: plain('C2SP verifier keys', 'text/plain'),
            ...refusals(...bearerCodes, 'domain_not_found', 'not_found'),
          },
        }),
      },
      '/v1/consent/{domainId}/log/consistency': {
        get: read({
          operationId: 'getConsistency',
          summary: 'Proof that the log only grew between two sizes',
          tags: ['Log'],
          requestParams: { path: domainPath, query: consistencyQuery },
          responses: {
            200: answer('The proof', responses.consistency),
            ...refusals(...bearerCodes, 'domain_not_found', 'not_found'),
          },
        }),
      },
      // before hash tiles, whose path it also is
      '/v1/consent/{domainId}/log/tile/entries/{tile}': {
        get: read({
          operationId: 'getEntries',
          summary: 'Entries of the log, up to 256 in a bundle',
          tags: ['Log'],
          requestParams: { path: domainPath.extend({ tile }), query: logQuery },
          responses: {
            200: plain('A C2SP tlog-tiles entry bundle', 'application/octet-stream'),
            ...refusals(
              ...bearerCodes,
              'domain_not_found',
              'plan_feature_required',
              'record_limit_reached',
              'not_found',
              'expired',
            ),
          },
        }),
      },
      '/v1/consent/{domainId}/log/tile/{level}/{tile}': {
        get: read({
          operationId: 'getTile',
          summary: 'Hashes of the log, up to 256 in a tile',
          tags: ['Log'],
          requestParams: { path: domainPath.extend({ level: z.int().min(0).max(63), tile }), query: logQuery },
          responses: {
            200: plain('A C2SP tlog-tiles tile', 'application/octet-stream', {
              'Cache-Control': z.string().meta({ description: 'a full tile never changes' }),
            }),
            ...refusals(...bearerCodes, 'domain_not_found', 'not_found'),
          },
        }),
      },
      '/openapi.json': {
        get: {
          operationId: 'getOpenApi',
          summary: 'This document',
          tags: ['Reference'],
          security: [],
          responses: { 200: answer('The OpenAPI document', z.looseObject({ openapi: z.string() })) },
        },
      },
      '/docs': {
        get: {
          operationId: 'getDocs',
          summary: 'This document as a page',
          tags: ['Reference'],
          security: [],
          responses: { 200: { description: 'The page', content: { 'text/html': { schema: z.string() } } } },
        },
      },
      '/v1/organization': {
        get: read({
          operationId: 'getOrganization',
          summary: 'The organization, its plan, usage and domains',
          tags: ['Read'],
          responses: {
            200: answer('The organization', responses.organization, { 'X-Stats-Source': statsSource }),
            ...refusals(...bearerCodes),
          },
        }),
      },
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'write-only; belongs to one domain' },
        accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'claims `sub`, `org`, `exp`' },
      },
    },
  });
