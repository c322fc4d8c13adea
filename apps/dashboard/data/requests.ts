/** Requests with a session's token. Each resolves to its answer or throws an `ApiError`. */

import type { ProblemBody } from '#libs/base/terms/problem';
import { ApiError } from './api-error.ts';
import { base } from './base.ts';
import type { AnswerTo, Ask, AskRaw, Call, Called, Endpoint, GivenTo } from './calls.ts';
import { learnServiceTime } from './service-clock.ts';

/** Milliseconds. The service answers within 5 s, so a longer wait means that the answer is lost. */
const timeout = 8_000;

interface ReceivedFile {
  name: string;
  content: Blob;
}

export type Requests = ReturnType<typeof createRequests>;

/**
 * The token may be renewed in between. `onRefused` is called when the service does not accept the token, now or any more:
 * true where the session goes on with another one.
 */
export function createRequests(session: { readonly token: string }, onRefused: () => Promise<boolean>) {
  const askOnce: AskRaw = async (...asked) => {
    const { token } = session;
    // fetch throws on characters that a header cannot hold
    if (!/^[\x21-\x7e]+$/.test(token)) {
      await onRefused();
      throw new ApiError('refused', 'this is not an access token');
    }
    return askWith(token)(...asked);
  };

  /** Once more where the session goes on: what was refused has changed nothing. */
  const ask: AskRaw = async (...asked) => {
    const { token } = session;
    const response = await askOnce(...asked);
    if (response.status !== 401 || (await isAboutPassword(response))) return response;
    const goesOn = session.token !== token || (await onRefused());
    if (!goesOn) return response;
    const second = await askOnce(...asked);
    if (second.status === 401) await onRefused();
    return second;
  };

  const call: Ask = async (endpoint, given, how) => read(await ask(endpoint, given, how));
  const getOk: AskRaw = async (endpoint, given, how) => ifOk(await ask(endpoint, given, how));
  const getJson: AskRaw = async (endpoint, given, how) => ifJson(await ask(endpoint, given, how));

  /** However long it takes, once it has begun. */
  async function getFile<Of extends Endpoint>(endpoint: Of, given: GivenTo<Of>): Promise<ReceivedFile> {
    const beginning = new AbortController();
    const timer = setTimeout(() => beginning.abort(), timeout);
    const { signal }: Call = given;
    const response = await getOk(endpoint, given, { expiry: beginning.signal }).finally(() => clearTimeout(timer));
    const [, name = 'export'] = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
    const content = await response.blob().catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new ApiError('unreachable', 'The answer was cut off.');
    });
    return { name, content };
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

  return { call, getOk, getJson, getFile, getMoved };
}

/** Without an access token: what opens a session, renews or ends it, by the browser's cookie. */
export const askOpenly: Ask = async (endpoint, given, how) => read(await askWith('')(endpoint, given, how));

/** Empty for none. */
const askWith =
  (token: string): AskRaw =>
  async (endpoint, given, { headers = {}, expiry = AbortSignal.timeout(timeout) } = {}) => {
    const { body, tag, signal }: Call = given;
    const response = await send(addressOf(endpoint, given), token, {
      method: endpoint.replace(/ .*/, '').toUpperCase(),
      ...(body && { body: JSON.stringify(body) }),
      signal,
      expiry,
      headers: { 'content-type': body && 'application/json', 'if-match': tag ?? undefined, ...headers },
    });
    learnServiceTime(response.headers.get('date'));
    return response;
  };

const read = async <Body>(response: Response): Promise<Called<Body>> => ({
  body: await readBody(await ifJson(response)),
  tag: response.headers.get('etag'),
});
async function ifOk(response: Response, isWanted = response.ok): Promise<Response> {
  if (isWanted) return response;
  throw await errorOf(response);
}
const ifJson = (response: Response) => ifOk(response, response.ok && isJson(response));

export const asText = { headers: { accept: 'text/plain' } };
export const asJson = { headers: { accept: 'application/json' } };

function addressOf(endpoint: string, { params = {}, query = {} }: Call): string {
  const named = endpoint
    .replace(/^\w+ /, '')
    .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length > 0 ? `${named}?${new URLSearchParams(given)}` : named;
}

interface Sent {
  method: string;
  body?: string;
  headers: Record<string, string | undefined>;
  signal: AbortSignal | undefined;
  expiry: AbortSignal;
}

/** What goes by the cookie of an account's session. No other endpoint gets it. */
const byCookie = /^\/v1\/(sign-|people\/me)/;

async function send(path: string, token: string, { signal, expiry, headers, ...sent }: Sent): Promise<Response> {
  const given = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  try {
    return await fetch(base + path, {
      headers: { ...Object.fromEntries(given), ...(token && { authorization: `Bearer ${token}` }) },
      credentials: byCookie.test(path) ? 'same-origin' : 'omit',
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
export function parse<Body>(text: string): Body {
  try {
    return JSON.parse(text);
  } catch {
    throw noAnswer();
  }
}

export const readText = (response: Response): Promise<string> =>
  response.text().catch(() => {
    throw noAnswer();
  });

const noAnswer = () =>
  navigator.onLine
    ? new ApiError('unreachable', 'The service did not answer.')
    : new ApiError('offline', 'This device is offline.');

/** Wrong, which is no matter of the token. */
const isAboutPassword = async (response: Response): Promise<boolean> =>
  isJson(response) && (await errorOf(response.clone())).code === 'invalid_credentials';

const isJson = (response: Response) => /\bjson\b/.test(response.headers.get('content-type') ?? '');

async function errorOf(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const body: Partial<ProblemBody> = isJson(response) ? await response.json().catch(() => ({})) : {};
  const details = {
    status,
    code: body.code,
    errors: body.errors,
    requestId: body.requestId ?? headers.get('x-request-id') ?? undefined,
    headers,
  };
  if (status === 401) return new ApiError('refused', body.detail ?? 'the token was refused', details);
  return new ApiError('problem', body.detail ?? `The answer had status ${status}.`, details);
}
