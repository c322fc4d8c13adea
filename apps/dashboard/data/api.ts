/** The endpoints. Every request either resolves to its answer or throws an `ApiError`. */

import type { ProblemBody } from '#libs/base/terms/problem';
import type { Dimension } from '#libs/base/terms/terms';
import type { OrgStats, RecordsPage } from '#libs/log/contract';
import type { Erasure, Visitor } from '#libs/privacy/contract';
import type { FullRecord } from '#libs/record/contract';
import type { DomainStats, Organization, OrganizationStats } from '#libs/stats/contract';
import { ApiError } from './api-error.ts';
import { base } from './base.ts';
import type { Ask, Call, Called } from './calls.ts';
import { createManageApi } from './manage-api.ts';
import { learnServiceTime } from './service-clock.ts';
import { createWebhookApi } from './webhook-api.ts';

/** Milliseconds. The service answers within 5 s, so a longer wait means that the answer is lost. */
const timeout = 8_000;
/** Milliseconds for all that is stored about a visitor, which the service streams. */
const streamTimeout = 120_000;

type Query = Record<string, string | number | boolean | undefined>;

interface StatsQuery {
  from: string;
  to: string;
  interval?: 'day' | 'month' | undefined;
  by?: Dimension | undefined;
}

export type Api = ReturnType<typeof createApi>;

export interface FoundVisitor {
  /** the answer as it was sent, to be kept */
  text: string;
  visitor: Visitor;
}

interface ExportedFile {
  name: string;
  content: Blob;
}

export interface Sealed {
  /** entries that are sealed, at least one */
  size: number;
  /** RFC 3339; null where the answer lacks it */
  at: string | null;
}

/** The token may be renewed in between. `onRefused` is called when the service does not accept the token, now or any more. */
export function createApi(session: { readonly token: string }, onRefused: () => void) {
  async function get<Body>(path: string, query: Query, signal?: AbortSignal): Promise<Body> {
    return readBody<Body>(await ifJson(await ask(path, query, signal)));
  }

  async function getText(path: string, query: Query, accept: string, signal?: AbortSignal): Promise<Response> {
    const response = await ask(path, query, signal, { accept });
    if (response.ok) return response;
    throw await refuse(response);
  }

  async function post(path: string, body: object, signal?: AbortSignal): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const expiry = AbortSignal.timeout(streamTimeout);
    const sent = { expiry, method: 'POST', body: JSON.stringify(body) };
    return readText(await ifJson(await ask(path, {}, signal, headers, sent)));
  }

  async function call<Body>(method: string, path: string, { params = {}, query = {}, body, tag, signal }: Call = {}) {
    const named = path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ''));
    const headers = { 'content-type': body && 'application/json', 'if-match': tag ?? undefined };
    const sent = body && { body: JSON.stringify(body) };
    const response = await ifJson(await ask(named, query, signal, headers, { method, ...sent }));
    const called: Called<Body> = { body: await readBody<Body>(response), tag: response.headers.get('etag') };
    return called;
  }

  const byRow: Ask = (method, path, given) => call(method.toUpperCase(), path, given);

  /** However long it takes, once it has begun. */
  async function getFile(path: string, query: Query, signal?: AbortSignal): Promise<ExportedFile> {
    const beginning = new AbortController();
    const timer = setTimeout(() => beginning.abort(), timeout);
    const asked = ask(path, query, signal, {}, { expiry: beginning.signal });
    const response = await asked.finally(() => clearTimeout(timer));
    if (!response.ok) throw await refuse(response);
    const [, name = 'export'] = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
    const content = await response.blob().catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new ApiError('unreachable', 'The answer was cut off.');
    });
    return { name, content };
  }

  async function ask(
    path: string,
    query: Query,
    signal?: AbortSignal,
    headers: Headers = {},
    { expiry = AbortSignal.timeout(timeout), ...sent }: { expiry?: AbortSignal } & Sent = {},
  ): Promise<Response> {
    const { token } = session;
    // fetch throws on characters that a header cannot hold
    if (!/^[\x21-\x7e]+$/.test(token)) {
      onRefused();
      throw new ApiError('refused', 'this is not an access token');
    }
    const response = await send(`${path}${queryString(query)}`, token, { ...sent, signal, expiry, headers });
    learnServiceTime(response.headers.get('date'));
    return response;
  }

  async function ifJson(response: Response): Promise<Response> {
    if (response.ok && isJson(response)) return response;
    throw await refuse(response);
  }

  async function refuse(response: Response): Promise<ApiError> {
    const error = await errorOf(response);
    if (error.kind === 'refused') onRefused();
    return error;
  }

  /** of the last answer to each question */
  const tags = new Map<string, string>();
  async function getMoved<Body>(path: string, query: Query, signal?: AbortSignal): Promise<Body | null> {
    const question = path + queryString(query);
    const response = await ask(path, query, signal, { 'if-none-match': tags.get(question) });
    if (response.status === 304) return null;
    const body = await readBody<Body>(await ifJson(response));
    const tag = response.headers.get('etag');
    if (tag === null) tags.delete(question);
    else tags.set(question, tag);
    return body;
  }

  const domain = (domainId: string) => `/v1/consent/${encodeURIComponent(domainId)}`;
  const ofLog = ({ log }: FullRecord) => ({ log: log ?? undefined });
  return {
    organization: (signal?: AbortSignal) => get<Organization>('/v1/organization', {}, signal),
    orgStats: (query: { limit?: number; cursor?: string }, signal?: AbortSignal) =>
      get<OrgStats>('/v1/consent/org-stats', query, signal),
    /** The same, or null while no total has moved since the last answer to this question that was not null. */
    movedOrgStats: (query: { limit: number }, signal?: AbortSignal) =>
      getMoved<OrgStats>('/v1/consent/org-stats', query, signal),
    stats: (domainId: string, query: StatsQuery, signal?: AbortSignal) =>
      get<DomainStats>(`${domain(domainId)}/stats`, { ...query }, signal),
    /** Over all domains. */
    organizationStats: (query: StatsQuery, signal?: AbortSignal) =>
      get<OrganizationStats>('/v1/organization/stats', { ...query }, signal),
    records: (domainId: string, query: Query, signal?: AbortSignal) =>
      get<RecordsPage>(`${domain(domainId)}/records`, query, signal),
    record: (domainId: string, recordId: string, signal?: AbortSignal) =>
      get<FullRecord>(`${domain(domainId)}/records/${recordId}`, {}, signal),
    /** How far the domain's log is sealed; null where nothing is. */
    sealed: (domainId: string, signal?: AbortSignal): Promise<Sealed | null> =>
      getText(`${domain(domainId)}/log/checkpoint`, {}, 'text/plain', signal).then(readSealed, (error: unknown) => {
        if (error instanceof ApiError && error.code === 'not_found') return null;
        throw error;
      }),
    /** The bundle that proves a record, as the service sent it. */
    proof: (record: FullRecord, signal?: AbortSignal) =>
      getText(`${domain(record.domainId)}/records/${record.id}/proof`, ofLog(record), 'application/json', signal).then(
        readText,
      ),
    /** Every key that signed the log that the record is in, a line each. */
    verifierKeys: (record: FullRecord, signal?: AbortSignal) =>
      getText(`${domain(record.domainId)}/log/key`, ofLog(record), 'text/plain', signal).then(readText),
    /** What a visitor was shown: the document as it was sent. */
    notice: (domainId: string, hash: string, signal?: AbortSignal) =>
      getText(`${domain(domainId)}/notices/${hash}`, {}, 'application/json', signal).then(readText),
    /** The visitor's id is in the body of this and the next, so that no log on the way holds it. */
    visitor: async (domainId: string, visitorId: string, signal?: AbortSignal): Promise<FoundVisitor> => {
      const text = await post(`${domain(domainId)}/visitors/lookup`, { visitorId }, signal);
      return { text, visitor: parse<Visitor>(text) };
    },
    eraseVisitor: async (domainId: string, visitorId: string) =>
      parse<Erasure>(await post(`${domain(domainId)}/visitors/erase`, { visitorId })),
    erasure: (erasureId: string, signal?: AbortSignal) =>
      get<Erasure>(`/v1/organization/erasures/${erasureId}`, {}, signal),
    /** All records of a domain that match, as a file. */
    export: (domainId: string, query: Query, signal?: AbortSignal) =>
      getFile(`${domain(domainId)}/export`, query, signal),
    manage: createManageApi(byRow),
    webhooks: createWebhookApi(call),
  };
}

type Headers = Record<string, string | undefined>;

interface Sent {
  /** GET, if absent */
  method?: string;
  body?: string;
}

async function send(
  path: string,
  token: string,
  {
    signal,
    expiry,
    headers,
    ...sent
  }: { signal: AbortSignal | undefined; expiry: AbortSignal; headers: Headers } & Sent,
): Promise<Response> {
  const given = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  try {
    return await fetch(base + path, {
      headers: { ...Object.fromEntries(given), authorization: `Bearer ${token}` },
      credentials: 'omit',
      ...sent,
      signal: signal ? AbortSignal.any([signal, expiry]) : expiry,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw noAnswer();
  }
}

async function readBody<Body>(response: Response): Promise<Body> {
  try {
    return await response.json();
  } catch {
    throw noAnswer();
  }
}

/** An answer that was cut off is none. */
function parse<Body>(text: string): Body {
  try {
    return JSON.parse(text);
  } catch {
    throw noAnswer();
  }
}

const readText = (response: Response): Promise<string> =>
  response.text().catch(() => {
    throw noAnswer();
  });

/** The second line of a checkpoint is the log's size. */
async function readSealed(response: Response): Promise<Sealed> {
  const time = Date.parse(response.headers.get('last-modified') ?? '');
  const [, size] = (await readText(response)).split('\n');
  return { size: Number(size), at: Number.isNaN(time) ? null : new Date(time).toISOString() };
}

const noAnswer = () =>
  navigator.onLine
    ? new ApiError('unreachable', 'The service did not answer.')
    : new ApiError('offline', 'This device is offline.');

const isJson = (response: Response) => /\bjson\b/.test(response.headers.get('content-type') ?? '');

async function errorOf(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const body: Partial<ProblemBody> = isJson(response) ? await response.json().catch(() => ({})) : {};
  const details = {
    status,
    code: body.code,
    errors: body.errors,
    requestId: body.requestId ?? headers.get('x-request-id') ?? undefined,
    retryAfter: Number(headers.get('retry-after')) || undefined,
  };
  if (status === 401) return new ApiError('refused', body.detail ?? 'the token was refused', details);
  return new ApiError('problem', body.detail ?? `The answer had status ${status}.`, details);
}

function queryString(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}
