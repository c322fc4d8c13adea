/** A client that checks every response against the OpenAPI document of the service. */
import { createSecretKey } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { expect } from 'vitest';
import type { OrgStats, RecordsPage } from '#libs/log/contract';
import type { Receipt } from '#libs/record/contract';
import type { DomainStats, Organization } from '#libs/stats/contract';
import { createOpenApi } from '../../apps/api/openapi.ts';
import { createCheck, type Described } from '../../scripts/fuzz/described.ts';
import { jwtSecret } from './settings.ts';

const checkAgainstDocument = createCheck(JSON.parse(JSON.stringify(createOpenApi())) as Described);

export interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

export async function request<Body = never>(
  baseUrl: string,
  path: string,
  init: RequestInit & { duplex?: 'half' } = {},
): Promise<Answer<Body>> {
  const response = await fetch(baseUrl + path, init);
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const body: unknown = /\bjson\b/.test(type) && init.method !== 'HEAD' ? JSON.parse(text) : text;
  const { pathname } = new URL(path, baseUrl);
  const complaint = checkAgainstDocument({
    method: init.method ?? 'GET',
    path: pathname,
    status: response.status,
    type,
    body,
  });
  expect(complaint).toBeNull();
  return { status: response.status, headers: response.headers, body: body as Body };
}

/** Seconds: a client outlives the longest file, on the slowest machine. */
const lifetime = 3_600;

export const tokenFor = (organizationId: string, claims: object = {}, secret: string = jwtSecret): string =>
  jsonwebtoken.sign(
    { sub: 'tester', org: organizationId, exp: Math.floor(Date.now() / 1000) + lifetime, ...claims },
    // of a string it would try first whether it is a PEM
    createSecretKey(secret, 'utf8'),
  );

export interface ProblemAnswer {
  type: string;
  title: string;
  code: string;
  detail: string;
  requestId: string;
  errors?: { path: string; in: string; message: string }[];
  serverTime?: string;
  id?: string;
  erasureId?: string;
}

interface Asked {
  /** sent as JSON */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends requests with an access token of the organization with these claims. */
export const createAsk =
  (baseUrl: string, organizationId: string, claims: object) =>
  <Body = object>(method: string, path: string, { body, headers }: Asked = {}): Promise<Answer<OrProblem<Body>>> =>
    request<OrProblem<Body>>(baseUrl, path, {
      method,
      headers: {
        authorization: `Bearer ${tokenFor(organizationId, claims)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });

/** Either the response or the problem: a test reads the fields that it expects. */
type OrProblem<Body> = Body & ProblemAnswer;

/** What one organization's pages and dashboards do. */
export function createClient(baseUrl: string, { organizationId, scope }: { organizationId: string; scope?: string }) {
  const token = tokenFor(organizationId, { ...(scope && { scope }) });
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
