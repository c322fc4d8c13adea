/** A client that checks every answer it gets against the OpenAPI document that the service itself serves. */
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import jsonwebtoken from 'jsonwebtoken';
import { expect } from 'vitest';
import { createOpenApi } from '#libs/contract/openapi';
import type { DomainStats, Organization, OrgStats, Receipt, RecordsPage } from '#libs/contract/responses';
import { jwtSecret } from './service.ts';

const document = JSON.parse(JSON.stringify(createOpenApi())) as {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
  >;
  components: object;
};

const ajv = new Ajv2020.default({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', ...document });

export interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

const templates = Object.keys(document.paths).map((template) => ({
  template,
  pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** A path that the document does not know is no business of it; everything else must be described. */
function checkAgainstDocument(method: string, path: string, status: number, type: string, body: unknown): void {
  const template =
    templates.find(({ template }) => template === path)?.template ??
    templates.find(({ pattern }) => pattern.test(path))?.template;
  const operation = template && document.paths[template]?.[method.toLowerCase()];
  if (!template || !operation) return;
  const content = operation.responses[String(status)]?.content;
  expect(content, `${method} ${path} answered ${status}, which its description lacks`).toBeDefined();
  const mediaType = type.split(';')[0] ?? '';
  expect(Object.keys(content ?? {})).toContain(mediaType);
  const pointer = [
    'paths',
    template,
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    mediaType,
    'schema',
  ];
  const reference = pointer
    .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
    .map(encodeURIComponent)
    .join('/');
  const valid = ajv.validate({ $ref: `openapi#/${reference}` }, body);
  expect(valid, `${method} ${path} ${status}: ${ajv.errorsText()}`).toBe(true);
}

export async function request<Body = never>(
  baseUrl: string,
  path: string,
  init: RequestInit & { duplex?: 'half' } = {},
): Promise<Answer<Body>> {
  const response = await fetch(baseUrl + path, init);
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const body: unknown = /json/.test(type) && init.method !== 'HEAD' ? JSON.parse(text) : text;
  const { pathname } = new URL(path, baseUrl);
  checkAgainstDocument(init.method ?? 'GET', pathname, response.status, type, body);
  return { status: response.status, headers: response.headers, body: body as Body };
}

export const tokenFor = (organizationId: string, claims: object = {}, secret: string = jwtSecret): string =>
  jsonwebtoken.sign(
    { sub: 'tester', org: organizationId, exp: Math.floor(Date.now() / 1000) + 600, ...claims },
    secret,
  );

export interface ProblemAnswer {
  type: string;
  title: string;
  code: string;
  detail: string;
  requestId: string;
  errors?: { path: string; message: string }[];
  serverTime?: string;
  id?: string;
}

/** Either the answer or the problem: a test reads the fields that it expects. */
type OrProblem<Body> = Body & ProblemAnswer;

/** What one organization's pages and dashboards do. */
export function createClient(baseUrl: string, { organizationId }: { organizationId: string }) {
  const token = tokenFor(organizationId);
  const get = <Body>(path: string) => request<Body>(baseUrl, path, { headers: { authorization: `Bearer ${token}` } });
  return {
    get,
    record: (domainId: string, apiKey: string, body: unknown, headers: Record<string, string> = {}) =>
      request<OrProblem<Receipt>>(baseUrl, `/v1/consent/${domainId}/record`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': apiKey, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    stats: (domainId: string, query: string) => get<OrProblem<DomainStats>>(`/v1/consent/${domainId}/stats?${query}`),
    records: (domainId: string, query = '') => get<OrProblem<RecordsPage>>(`/v1/consent/${domainId}/records?${query}`),
    orgStats: (query = '') => get<OrProblem<OrgStats>>(`/v1/consent/org-stats?${query}`),
    organization: () => get<OrProblem<Organization>>('/v1/organization'),
  };
}

export type Client = ReturnType<typeof createClient>;
