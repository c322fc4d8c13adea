/** The OpenAPI 3.1 document, made from the schemas that validate: what it says is what the service does. */
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import { type ProblemCode, problemBody, problems } from './problem.ts';
import {
  consistencyQuery,
  domainPath,
  erasurePath,
  exportQuery,
  feedQuery,
  importQuery,
  listQuery,
  logQuery,
  noticePath,
  organizationExportQuery,
  orgStatsQuery,
  recordPath,
  recordsQuery,
  statsQuery,
  visitorBody,
  visitorPath,
} from './queries.ts';
import { recordBody } from './record.ts';
import * as responses from './responses.ts';
import {
  deliveriesPage,
  madeWebhook,
  replayBody,
  webhook,
  webhookBody,
  webhookChange,
  webhookPath,
  webhookReplay,
  webhookSecret,
  webhooksPage,
  webhookTest,
} from './webhook.ts';

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
          ...(([429, 503].includes(status) || group.includes('not_sealed_yet')) && { 'Retry-After': retryAfter }),
          ...(status === 401 && !group.includes('invalid_api_key') && { 'WWW-Authenticate': z.string() }),
          ...(group.includes('insufficient_scope') && {
            'WWW-Authenticate': z
              .string()
              .optional()
              .meta({ description: 'with `insufficient_scope`: the scope that is needed' }),
          }),
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

const notice = z
  .looseObject({ language: z.unknown().optional(), version: z.unknown().optional() })
  .meta({ id: 'Notice', description: 'what a visitor was shown: at most 16 KiB and 16 levels, under its SHA-256' });

/** Groups of three digits are segments of their own, so it may have slashes, which are not escaped. */
const tile = z.string().meta({
  description:
    'number in groups of three digits, all but the last with `x` (`x001/234`); a partial tile has its width (`000.p/17`)',
});

const bearerCodes = ['missing_token', 'invalid_token', 'invalid_request', 'rate_limited'] as const;
const scopedCodes = [...bearerCodes, 'insufficient_scope'] as const;
const recordCodes = ['domain_not_found', 'plan_feature_required', 'record_limit_reached', 'record_not_found'] as const;
const read = (operation: Omit<ZodOpenApiOperationObject, 'security'>): ZodOpenApiOperationObject => ({
  ...operation,
  security: [{ accessToken: [] }],
});

const exported = {
  200: {
    description: 'Records, oldest first; in NDJSON the last line is `{"end":true,"count":N}`',
    headers: z.object({
      'X-Request-Id': requestId,
      'Content-Disposition': z.string().meta({ description: 'an attachment, with a name' }),
    }),
    content: { 'application/x-ndjson': { schema: z.string() }, 'text/csv': { schema: z.string() } },
  },
};

/** What can be asked about a visitor, on a domain or on all of the organization's. */
function visitorPaths(prefix: string, path?: typeof domainPath) {
  const ofWhat = path ? 'Domain' : 'Organization';
  const where = path ? 'a domain' : 'all domains of the organization';
  const codes = [...scopedCodes, ...(path ? (['domain_not_found'] as const) : [])];
  const bodyCodes = [...codes, 'invalid_json', 'payload_too_large', 'unsupported_media_type'] as const;
  const inPath = { requestParams: { path: path ? path.extend(visitorPath.shape) : visitorPath } };
  const inBody = {
    ...(path && { requestParams: { path } }),
    requestBody: { required: true, content: { 'application/json': { schema: visitorBody } } },
  };
  const found = { 200: answer('All that is stored about the visitor', responses.visitor) };
  const erased = {
    200: answer('The visitor is erased', responses.erasure),
    202: answer('There are more than 10,000 records, and the worker goes on', responses.erasure),
  };
  const tags = ['Privacy'];
  const access = `All that is stored about a visitor of ${where}`;
  const erase = `Erase a visitor of ${where}`;
  return {
    [`${prefix}/visitors/{visitorId}`]: {
      get: read({
        operationId: `get${ofWhat}Visitor`,
        summary: access,
        tags,
        ...inPath,
        responses: { ...found, ...refusals(...codes) },
      }),
      delete: read({
        operationId: `delete${ofWhat}Visitor`,
        summary: erase,
        tags,
        ...inPath,
        responses: { ...erased, ...refusals(...codes) },
      }),
    },
    [`${prefix}/visitors/lookup`]: {
      post: read({
        operationId: `lookup${ofWhat}Visitor`,
        summary: `${access}, with the id in the body`,
        tags,
        ...inBody,
        responses: { ...found, ...refusals(...bodyCodes) },
      }),
    },
    [`${prefix}/visitors/erase`]: {
      post: read({
        operationId: `erase${ofWhat}Visitor`,
        summary: `${erase}, with the id in the body`,
        tags,
        ...inBody,
        responses: { ...erased, ...refusals(...bodyCodes) },
      }),
    },
  };
}

/** Webhooks of the organization. */
function webhookPaths() {
  const tags = ['Webhooks'];
  const known = { tags, requestParams: { path: webhookPath } };
  const codes = [...scopedCodes, 'webhook_not_found'] as const;
  const withBody = ['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const;
  const wanted = ['domain_not_found', 'plan_feature_required', ...withBody] as const;
  const etag = { ETag: z.string().meta({ description: 'send it as `If-Match` to change only this version' }) };
  const ifMatch = z.object({ 'If-Match': z.string().optional() });
  const body = (schema: z.ZodType) => ({
    requestBody: { required: true, content: { 'application/json': { schema } } },
  });
  const webhooks = '/v1/organization/webhooks';
  return {
    [webhooks]: {
      get: read({
        operationId: 'getWebhooks',
        summary: 'The webhooks, newest first',
        tags,
        requestParams: { query: listQuery },
        responses: { 200: answer('A page of webhooks', webhooksPage), ...refusals(...scopedCodes) },
      }),
      post: read({
        operationId: 'createWebhook',
        summary: 'Make a webhook; with `records.sealed` the access token needs `read`, too',
        tags,
        ...body(webhookBody),
        responses: {
          201: answer('The webhook, and this once its secret', madeWebhook, etag),
          ...refusals(...scopedCodes, ...wanted),
        },
      }),
    },
    [`${webhooks}/{webhookId}`]: {
      get: read({
        operationId: 'getWebhook',
        summary: 'A webhook',
        ...known,
        responses: { 200: answer('The webhook', webhook, etag), ...refusals(...codes) },
      }),
      patch: read({
        operationId: 'changeWebhook',
        summary: 'Change, disable or enable a webhook; with `records.sealed` the access token needs `read`, too',
        tags,
        requestParams: { path: webhookPath, header: ifMatch },
        ...body(webhookChange),
        responses: {
          200: answer('The webhook as it is now', webhook, etag),
          ...refusals(...codes, ...wanted, 'changed_meanwhile'),
        },
      }),
      delete: read({
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook and its deliveries',
        tags,
        requestParams: { path: webhookPath, header: ifMatch },
        responses: {
          200: answer('The webhook as it was', webhook, etag),
          ...refusals(...codes, 'changed_meanwhile'),
        },
      }),
    },
    [`${webhooks}/{webhookId}/test`]: {
      post: read({
        operationId: 'testWebhook',
        summary: 'Send a `webhook.test`, once; the deliveries say how it went',
        ...known,
        responses: { 202: answer('It will be sent', webhookTest), ...refusals(...codes) },
      }),
    },
    [`${webhooks}/{webhookId}/secret`]: {
      post: read({
        operationId: 'rotateWebhookSecret',
        summary: 'A new secret; the one before signs beside it for 24 hours',
        ...known,
        responses: { 200: answer('The secret, this once', webhookSecret), ...refusals(...codes) },
      }),
    },
    [`${webhooks}/{webhookId}/replay`]: {
      post: read({
        operationId: 'replayWebhook',
        summary: 'Send the entries of a domain again, from a position on; needs `read`, too',
        ...known,
        ...body(replayBody),
        responses: {
          200: answer('From where it goes on', webhookReplay),
          ...refusals(...codes, ...wanted),
        },
      }),
    },
    [`${webhooks}/{webhookId}/deliveries`]: {
      get: read({
        operationId: 'getDeliveries',
        summary: 'Every try of the last 30 days, newest first',
        tags,
        requestParams: { path: webhookPath, query: listQuery },
        responses: { 200: answer('A page of deliveries', deliveriesPage), ...refusals(...codes) },
      }),
    },
  };
}

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
      { name: 'Notices', description: 'what visitors were shown' },
      { name: 'Log', description: 'the sealed log: checkpoints and proofs' },
      { name: 'Import', description: 'records from elsewhere; scope `import`' },
      { name: 'Privacy', description: 'access to what is stored about a visitor, and erasure; scope `privacy`' },
      { name: 'Webhooks', description: 'what is sent as it happens; scope `manage`' },
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
            ...refusals(...scopedCodes),
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
            ...refusals(...scopedCodes, 'domain_not_found'),
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
            ...refusals(...scopedCodes, 'domain_not_found', 'plan_feature_required'),
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
            ...refusals(...scopedCodes, ...recordCodes),
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
            ...refusals(...scopedCodes, ...recordCodes, 'not_found', 'not_sealed_yet', 'expired'),
          },
        }),
      },
      '/v1/consent/{domainId}/feed': {
        get: read({
          operationId: 'getFeed',
          summary: 'The log in its own order, from a position on: records, erasures, notices',
          tags: ['Log'],
          requestParams: { path: domainPath, query: feedQuery },
          responses: {
            200: answer('The next entries; none at the end', responses.feed),
            ...refusals(
              ...scopedCodes,
              'domain_not_found',
              'plan_feature_required',
              'record_limit_reached',
              'not_found',
              'log_restarted',
            ),
          },
        }),
      },
      '/v1/consent/{domainId}/export': {
        get: read({
          operationId: 'exportDomain',
          summary: 'All records of a domain that match, as a file',
          tags: ['Read'],
          requestParams: { path: domainPath, query: exportQuery },
          responses: {
            ...exported,
            ...refusals(...scopedCodes, 'domain_not_found', 'plan_feature_required', 'record_limit_reached'),
          },
        }),
      },
      '/v1/organization/export': {
        get: read({
          operationId: 'exportOrganization',
          summary: 'All records of the organization that match, as a file, domain by domain',
          tags: ['Read'],
          requestParams: { query: organizationExportQuery },
          responses: {
            ...exported,
            ...refusals(...scopedCodes, 'plan_feature_required', 'record_limit_reached'),
          },
        }),
      },
      '/v1/consent/{domainId}/import': {
        post: read({
          operationId: 'importRecords',
          summary: 'Import records from elsewhere, or from an export; sent again it adds nothing',
          tags: ['Import'],
          requestParams: { path: domainPath, query: importQuery },
          requestBody: {
            required: true,
            description: 'at most 250,000 rows and 256 MiB, as NDJSON or CSV',
            content: { 'application/x-ndjson': { schema: z.string() }, 'text/csv': { schema: z.string() } },
          },
          responses: {
            200: answer('Every row was read; those that are `queued` are safe', responses.imported),
            ...refusals(
              ...scopedCodes,
              'domain_not_found',
              'domain_archived',
              'payload_too_large',
              'unsupported_media_type',
            ),
          },
        }),
      },
      '/v1/consent/{domainId}/notices': {
        get: read({
          operationId: 'getNotices',
          summary: 'What visitors were shown: the notices that are held, newest first',
          tags: ['Notices'],
          requestParams: { path: domainPath, query: listQuery },
          responses: {
            200: answer('A page of notices', responses.noticesPage),
            ...refusals(...scopedCodes, 'domain_not_found'),
          },
        }),
      },
      '/v1/consent/{domainId}/notices/{hash}': {
        get: read({
          operationId: 'getNotice',
          summary: 'A notice, byte for byte as it was put',
          tags: ['Notices'],
          requestParams: { path: noticePath },
          responses: {
            200: answer('The document', notice, {
              'Content-Disposition': z.string().meta({ description: 'an attachment' }),
            }),
            ...refusals(...scopedCodes, 'domain_not_found', 'notice_not_found'),
          },
        }),
        put: {
          operationId: 'putNotice',
          summary:
            'Keep what a visitor was shown; with an access token (scope `manage`) instead of the key without limits',
          tags: ['Notices'],
          security: [{ apiKey: [] }, { accessToken: [] }],
          requestParams: { path: noticePath },
          requestBody: { required: true, content: { 'application/json': { schema: notice } } },
          responses: {
            200: answer('It is known', responses.noticePut),
            201: answer('It is new', responses.noticePut),
            ...refusals(
              'invalid_json',
              'invalid_request',
              'invalid_api_key',
              'missing_token',
              'invalid_token',
              'insufficient_scope',
              'origin_not_allowed',
              'domain_not_found',
              'payload_too_large',
              'unsupported_media_type',
              'rate_limited',
            ),
          },
        },
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
            ...refusals(...scopedCodes, 'domain_not_found', 'not_found'),
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
            ...refusals(...scopedCodes, 'domain_not_found', 'not_found'),
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
            ...refusals(...scopedCodes, 'domain_not_found', 'not_found'),
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
              ...scopedCodes,
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
            ...refusals(...scopedCodes, 'domain_not_found', 'not_found'),
          },
        }),
      },
      ...visitorPaths('/v1/consent/{domainId}', domainPath),
      ...visitorPaths('/v1/organization'),
      '/v1/organization/erasures/{erasureId}': {
        get: read({
          operationId: 'getErasure',
          summary: 'How far an erasure is',
          tags: ['Privacy'],
          requestParams: { path: erasurePath },
          responses: {
            200: answer('The erasure', responses.erasure),
            ...refusals(...scopedCodes, 'erasure_not_found'),
          },
        }),
      },
      ...webhookPaths(),
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
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'claims `sub`, `org`, `exp`, and `scope`',
        },
      },
    },
  });
