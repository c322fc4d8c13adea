/** The read endpoints of the contract, and what can go wrong with each: always a `Trouble`, never a bare error. */
import type { DomainStats, Organization, OrgStats, RecordsPage } from '#libs/contract/responses';
import { hearTime } from './service-clock.ts';

/** Milliseconds. The service answers within 5 s, so what takes longer is lost on the way. */
const patience = 8_000;

export type TroubleKind = 'offline' | 'unreachable' | 'refused' | 'problem';

export class Trouble extends Error {
  readonly kind: TroubleKind;
  /** the contract's stable code, where the service answered */
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** seconds to wait, where the service said so */
  readonly retryAfter: number | undefined;
  /** of the answer, where there was one */
  readonly status: number | undefined;

  constructor(
    kind: TroubleKind,
    detail: string,
    about: {
      code?: string | undefined;
      requestId?: string | undefined;
      retryAfter?: number | undefined;
      status?: number | undefined;
    } = {},
  ) {
    super(detail);
    this.kind = kind;
    this.code = about.code;
    this.requestId = about.requestId;
    this.retryAfter = about.retryAfter;
    this.status = about.status;
  }
}

type Query = Record<string, string | number | boolean | undefined>;

export interface Api {
  organization(signal?: AbortSignal): Promise<Organization>;
  orgStats(query: { limit?: number; cursor?: string }, signal?: AbortSignal): Promise<OrgStats>;
  stats(
    domainId: string,
    query: { from: string; to: string; interval?: 'day' | 'month' | undefined },
    signal?: AbortSignal,
  ): Promise<DomainStats>;
  records(domainId: string, query: Query, signal?: AbortSignal): Promise<RecordsPage>;
}

/** `onRefused`: the token opens nothing (any more). */
export function createApi(token: string, onRefused: () => void): Api {
  async function get<Body>(path: string, query: Query, signal?: AbortSignal): Promise<Body> {
    // what no header can hold is no token
    if (!/^[\x21-\x7e]+$/.test(token)) {
      onRefused();
      throw new Trouble('refused', 'this is not an access token');
    }
    const response = await send(`${path}${written(query)}`, token, signal);
    hearTime(response.headers.get('date'));
    if (response.ok && isJson(response)) return readBody<Body>(response);
    const trouble = await describe(response);
    if (trouble.kind === 'refused') onRefused();
    throw trouble;
  }
  const domain = (domainId: string) => `/v1/consent/${encodeURIComponent(domainId)}`;
  return {
    organization: (signal) => get('/v1/organization', {}, signal),
    orgStats: (query, signal) => get('/v1/consent/org-stats', query, signal),
    stats: (domainId, query, signal) => get(`${domain(domainId)}/stats`, query, signal),
    records: (domainId, query, signal) => get(`${domain(domainId)}/records`, query, signal),
  };
}

async function send(path: string, token: string, signal?: AbortSignal): Promise<Response> {
  const late = AbortSignal.timeout(patience);
  try {
    return await fetch(path, {
      headers: { authorization: `Bearer ${token}` },
      credentials: 'omit',
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw lost();
  }
}

async function readBody<Body>(response: Response): Promise<Body> {
  try {
    return await response.json();
  } catch {
    throw lost();
  }
}

const lost = () =>
  navigator.onLine
    ? new Trouble('unreachable', 'The service did not answer.')
    : new Trouble('offline', 'This device is offline.');

const isJson = (response: Response) => /\bjson\b/.test(response.headers.get('content-type') ?? '');

async function describe(response: Response): Promise<Trouble> {
  const { status, headers } = response;
  const body: { code?: string; detail?: string; requestId?: string } = isJson(response)
    ? await response.json().catch(() => ({}))
    : {};
  const about = {
    status,
    code: body.code,
    requestId: body.requestId ?? headers.get('x-request-id') ?? undefined,
    retryAfter: Number(headers.get('retry-after')) || undefined,
  };
  if (status === 401) return new Trouble('refused', body.detail ?? 'the token was refused', about);
  return new Trouble('problem', body.detail ?? `The answer had status ${status}.`, about);
}

function written(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}
