/** The endpoints. Every request either resolves to its answer or throws an `ApiError`. */

import type { ProblemBody } from '#libs/base/terms/problem';
import type { logRoutes } from '#libs/log/routes';
import type { Erasure, Visitor } from '#libs/privacy/contract';
import type { FullRecord } from '#libs/record/contract';
import type { statsRoutes } from '#libs/stats/routes';
import { ApiError } from './api-error.ts';
import { base } from './base.ts';
import {
  type AnswerTo,
  type Ask,
  type Asked,
  type AskRaw,
  bodyOf,
  type Call,
  type Called,
  type Endpoint,
  type GivenTo,
  type How,
} from './calls.ts';
import { createManageApi, listedActs } from './manage-api.ts';
import { learnServiceTime } from './service-clock.ts';
import { createWebhookApi } from './webhook-api.ts';

/** Milliseconds. The service answers within 5 s, so a longer wait means that the answer is lost. */
const timeout = 8_000;
/** Milliseconds for all that is stored about a visitor, which the service streams. */
const streamTimeout = 120_000;

type StatsQuery = Asked<(typeof statsRoutes)['getDomainStats']>;
type RecordsQuery = Asked<(typeof logRoutes)['getRecords']>;
type ExportQuery = Asked<(typeof logRoutes)['exportDomain']>;

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
  const ask: AskRaw = async (endpoint, given, { headers = {}, expiry = AbortSignal.timeout(timeout) } = {}) => {
    const { token } = session;
    // fetch throws on characters that a header cannot hold
    if (!/^[\x21-\x7e]+$/.test(token)) {
      onRefused();
      throw new ApiError('refused', 'this is not an access token');
    }
    const { body, tag, signal }: Call = given;
    const response = await send(addressOf(endpoint, given), token, {
      method: endpoint.replace(/ .*/, '').toUpperCase(),
      ...(body && { body: JSON.stringify(body) }),
      ...{ signal, expiry },
      headers: { 'content-type': body && 'application/json', 'if-match': tag ?? undefined, ...headers },
    });
    learnServiceTime(response.headers.get('date'));
    return response;
  };

  const read = async <Body>(response: Response): Promise<Called<Body>> => ({
    body: await readBody(await ifJson(response)),
    tag: response.headers.get('etag'),
  });
  const call: Ask = async (endpoint, given) => read(await ask(endpoint, given));

  const getText: AskRaw = async (endpoint, given, how) => {
    const response = await ask(endpoint, given, how);
    if (response.ok) return response;
    throw await refuse(response);
  };

  /** However long it takes, once it has begun. */
  async function getFile(begun: (how: How) => Promise<Response>, signal?: AbortSignal): Promise<ExportedFile> {
    const beginning = new AbortController();
    const timer = setTimeout(() => beginning.abort(), timeout);
    const response = await begun({ expiry: beginning.signal }).finally(() => clearTimeout(timer));
    if (!response.ok) throw await refuse(response);
    const [, name = 'export'] = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
    const content = await response.blob().catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new ApiError('unreachable', 'The answer was cut off.');
    });
    return { name, content };
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
  async function getMoved<Of extends Endpoint>(endpoint: Of, given: GivenTo<Of>): Promise<AnswerTo<Of> | null> {
    const question = addressOf(endpoint, given);
    const response = await ask(endpoint, given, { headers: { 'if-none-match': tags.get(question) } });
    if (response.status === 304) return null;
    const { body, tag } = await read<AnswerTo<Of>>(response);
    if (tag === null) tags.delete(question);
    else tags.set(question, tag);
    return body;
  }

  const ofLog = ({ log }: FullRecord) => ({ log: log ?? undefined });
  const long = () => ({ expiry: AbortSignal.timeout(streamTimeout) });
  return {
    organization: (signal?: AbortSignal) => call('get /v1/organization', { signal }).then(bodyOf),
    orgStats: (query: { limit?: number; cursor?: string }, signal?: AbortSignal) =>
      call('get /v1/consent/org-stats', { query, signal }).then(bodyOf),
    /** The same, or null while no total has moved since the last answer to this question that was not null. */
    movedOrgStats: (query: { limit: number }, signal?: AbortSignal) =>
      getMoved('get /v1/consent/org-stats', { query, signal }),
    stats: (domainId: string, query: StatsQuery, signal?: AbortSignal) =>
      call(`get ${domain}/stats`, { params: { domainId }, query, signal }).then(bodyOf),
    /** Over all domains. */
    organizationStats: (query: StatsQuery, signal?: AbortSignal) =>
      call('get /v1/organization/stats', { query, signal }).then(bodyOf),
    records: (domainId: string, query: RecordsQuery, signal?: AbortSignal) =>
      call(`get ${domain}/records`, { params: { domainId }, query, signal }).then(bodyOf),
    record: (domainId: string, recordId: string, signal?: AbortSignal) =>
      call(`get ${domain}/records/:recordId`, { params: { domainId, recordId }, signal }).then(bodyOf),
    /** How far the domain's log is sealed; null where nothing is. */
    sealed: (domainId: string, signal?: AbortSignal): Promise<Sealed | null> =>
      getText(`get ${domain}/log/checkpoint`, { params: { domainId }, signal }, asText).then(
        readSealed,
        (error: unknown) => {
          if (error instanceof ApiError && error.code === 'not_found') return null;
          throw error;
        },
      ),
    /** The bundle that proves a record, as the service sent it. */
    proof: (record: FullRecord, signal?: AbortSignal) =>
      getText(
        `get ${domain}/records/:recordId/proof`,
        { params: { domainId: record.domainId, recordId: record.id }, query: ofLog(record), signal },
        asJson,
      ).then(readText),
    /** Every key that signed the log that the record is in, a line each. */
    verifierKeys: (record: FullRecord, signal?: AbortSignal) =>
      getText(
        `get ${domain}/log/key`,
        { params: { domainId: record.domainId }, query: ofLog(record), signal },
        asText,
      ).then(readText),
    /** What a visitor was shown: the document as it was sent. */
    notice: (domainId: string, hash: string, signal?: AbortSignal) =>
      getText(`get ${domain}/notices/:hash`, { params: { domainId, hash }, signal }, asJson).then(readText),
    /** The visitor's id is in the body of this and the next, so that no log on the way holds it. */
    visitor: async (domainId: string, visitorId: string, signal?: AbortSignal): Promise<FoundVisitor> => {
      const given = { params: { domainId }, body: { visitorId }, signal };
      const text = await readText(await ifJson(await ask(`post ${domain}/visitors/lookup`, given, long())));
      return { text, visitor: parse<Visitor>(text) };
    },
    eraseVisitor: async (domainId: string, visitorId: string) => {
      const given = { params: { domainId }, body: { visitorId } };
      return readBody<Erasure>(await ifJson(await ask(`post ${domain}/visitors/erase`, given, long())));
    },
    erasure: (erasureId: string, signal?: AbortSignal) =>
      call('get /v1/organization/erasures/:erasureId', { params: { erasureId }, signal }).then(bodyOf),
    erasures: (cursor?: string, signal?: AbortSignal) =>
      call('get /v1/organization/erasures', { query: { cursor }, signal }).then(bodyOf),
    /** The proof file of any entry of a log. */
    entryProof: (domainId: string, log: number, position: number) =>
      getText(
        `get ${domain}/log/entries/:position/proof`,
        { params: { domainId, position }, query: { log } },
        asText,
      ).then(readText),
    /** Acts about a visitor, whose id stays out of addresses. */
    actsAbout: (visitorId: string, cursor?: string, signal?: AbortSignal) =>
      call('post /v1/organization/acts/lookup', {
        query: { limit: listedActs, cursor },
        body: { visitorId },
        signal,
      }).then(bodyOf),
    /** All records of a domain that match, as a file. */
    export: (domainId: string, query: ExportQuery, signal?: AbortSignal) =>
      getFile((how) => ask(`get ${domain}/export`, { params: { domainId }, query, signal }, how), signal),
    manage: createManageApi(call),
    webhooks: createWebhookApi(call),
  };
}

const domain = '/v1/consent/:domainId';
const asText = { headers: { accept: 'text/plain' } };
const asJson = { headers: { accept: 'application/json' } };

function addressOf(endpoint: string, { params = {}, query = {} }: Call): string {
  const named = endpoint
    .replace(/^\w+ /, '')
    .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length > 0 ? `${named}?${new URLSearchParams(given)}` : named;
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
