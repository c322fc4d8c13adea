/** Parts of the OpenAPI document that all rooms use. */
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { type ProblemCode, problemBody, problems } from '../terms/problem.ts';
import type { KeyRoute, Route } from './routes.ts';

export const requestId = z
  .string()
  .meta({ description: "the request's id: the `X-Request-Id` that you sent, if you sent a valid one" });
const retryAfter = z.string().meta({ description: 'in seconds' });
export const statsSource = z.enum(['redis', 'postgres']).meta({ description: 'where the counts came from' });

const withStatus = (codes: readonly ProblemCode[], status: number): ProblemCode[] =>
  codes.filter((code) => problems[code].status === status);

const isOfToken = (code: ProblemCode): boolean => code === 'missing_token' || code === 'invalid_token';

/** One response per status, with its possible codes. */
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
          ...(([429, 503].includes(status) || group.includes('not_sealed_yet')) && {
            'Retry-After': group.includes('not_configured') ? retryAfter.optional() : retryAfter,
          }),
          ...(group.includes('invalid_token') && {
            'WWW-Authenticate': group.every(isOfToken) ? z.string() : z.string().optional(),
          }),
          ...(group.includes('insufficient_scope') && {
            'WWW-Authenticate': z
              .string()
              .optional()
              .meta({ description: 'with `insufficient_scope`: the required scope' }),
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

export const answer = <S extends z.ZodType>(
  description: string,
  schema: S,
  example: z.output<S>,
  headers: Record<string, z.ZodType> = {},
) => ({
  description,
  headers: z.object({ 'X-Request-Id': requestId, ...headers }),
  content: { 'application/json': { schema, example } },
});

export const plain = (
  description: string,
  mediaType: string,
  example: string,
  headers: Record<string, z.ZodType> = {},
) => ({
  description,
  headers: z.object({ 'X-Request-Id': requestId, ...headers }),
  content: { [mediaType]: { schema: z.string(), example } },
});

const scopedCodes = [
  'missing_token',
  'invalid_token',
  'invalid_request',
  'rate_limited',
  'insufficient_scope',
] as const;
export const recordCodes = ['domain_not_found', 'plan_feature_required', 'record_not_found'] as const;
/** What remains of each limit that counts the request (draft-ietf-httpapi-ratelimit-headers). */
const limits = {
  RateLimit: z
    .string()
    .optional()
    .meta({ description: 'what remains of each limit, such as `"read";r=5999;t=60`; not with a 401' }),
  'RateLimit-Policy': z.string().optional().meta({ description: 'the limits, such as `"read";q=6000;w=60`' }),
};

function withLimits<R extends object>(status: string, response: R): R {
  if (status === '401' || !('headers' in response) || !(response.headers instanceof z.ZodObject)) return response;
  return { ...response, headers: response.headers.extend(limits) };
}

/** Refusals of a JSON body, beside those of its fields. */
const withBody = ['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const;

function operationOf(operationId: string, row: Route | KeyRoute): ZodOpenApiOperationObject {
  const { params, query, headers, body, upload, answers, tag, summary, description } = row;
  const requestParams = {
    ...(params && { path: params }),
    ...(query && { query }),
    ...(headers && { header: headers }),
  };
  const isKeyed = 'auth' in row;
  const codes = [...(isKeyed ? [] : scopedCodes), ...(body ? withBody : []), ...row.refusals];
  const responses = Object.entries({ ...answers, ...refusals(...codes) });
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    ...(Object.keys(requestParams).length > 0 && { requestParams }),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: body.schema, example: body.example } } },
    }),
    ...(upload && { requestBody: upload }),
    responses: Object.fromEntries(
      isKeyed ? responses : responses.map(([status, response]) => [status, withLimits(status, response)]),
    ),
    security: isKeyed ? row.auth.map((name) => ({ [name]: [] })) : [{ accessToken: [] }],
  };
}

/** The operations that these rows describe. */
export function pathsOf(routes: Record<string, Route | KeyRoute>): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const [operationId, row] of Object.entries(routes)) {
    const path = row.path.replaceAll(/[:*](\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [row.method]: operationOf(operationId, row) };
  }
  return paths;
}

/** Of endpoints that create something: a retry with the same key creates nothing more. */
export const idempotencyKey = z.object({
  'Idempotency-Key': z.string().optional().meta({
    description: '1 to 128 visible characters: for 24 hours, the same request with this key gets the same response',
  }),
});
export const replayed = {
  'Idempotent-Replayed': z
    .string()
    .optional()
    .meta({ description: '`true` if this repeats the response to an earlier request with the same key' }),
};
export const onceCodes = ['in_progress', 'idempotency_mismatch'] as const;

export const etag = {
  ETag: z.string().meta({ description: 'send it as `If-Match`, so that only this version is changed' }),
};
/** Of endpoints that correct mistakes in bodies. */
export const handling = z.object({
  Prefer: z.string().optional().meta({
    description: '`handling=strict` rejects what would otherwise be corrected or left out',
    example: 'handling=strict',
  }),
});
export const preferenceApplied = {
  'Preference-Applied': z.string().optional().meta({ description: '`handling=strict` if the request asked for it' }),
};
export const ifMatch = z.object({ 'If-Match': z.string().optional() });
