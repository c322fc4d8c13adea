/** Requests with a session's token. Each resolves to its response or throws an `AssentError`. */

import { AssentError, errorOf, isJson } from '#libs/client/assent-error';
import { expectJson, expectOk, readJson, responseTimeout, send, withQuery } from '#libs/client/request';
import { base } from './base.ts';
import type { AnswerTo, Ask, AskRaw, Call, Called, Endpoint, GivenTo } from './calls.ts';
import { learnServiceTime } from './service-clock.ts';

interface ReceivedFile {
  name: string;
  content: Blob;
}

export type Requests = ReturnType<typeof createRequests>;

/**
 * The token may be renewed between requests. `onRefused` is called when the service rejects the token; it resolves to true
 * if the session continues with another one.
 */
export function createRequests(session: { readonly token: string }, onRefused: () => Promise<boolean>) {
  const askOnce: AskRaw = async (...asked) => {
    const { token } = session;
    // fetch throws on characters that a header cannot hold
    if (!/^[\x21-\x7e]+$/.test(token)) {
      await onRefused();
      throw new AssentError('invalid_token', 'this is not an access token', { status: 401 });
    }
    return askWith(token)(...asked);
  };

  /** Retries once if the session continues. A rejected request has changed nothing. */
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
  const getOk: AskRaw = async (endpoint, given, how) => expectOk(await ask(endpoint, given, how));
  const getJson: AskRaw = async (endpoint, given, how) => expectJson(await ask(endpoint, given, how));

  /** Only the start of the response has a timeout: the file itself may take as long as it needs. */
  async function getFile<Of extends Endpoint>(endpoint: Of, given: GivenTo<Of>): Promise<ReceivedFile> {
    const beginning = new AbortController();
    const timer = setTimeout(() => beginning.abort(), responseTimeout);
    const { signal }: Call = given;
    const response = await getOk(endpoint, given, { expiry: beginning.signal }).finally(() => clearTimeout(timer));
    const [, name = 'export'] = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
    const content = await response.blob().catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new AssentError('unreachable', 'The response was cut off.', { cause: error });
    });
    return { name, content };
  }

  /** ETag of the last response, by address */
  const tags = new Map<string, string>();
  async function getIfChanged<Of extends Endpoint>(endpoint: Of, given: GivenTo<Of>): Promise<AnswerTo<Of> | null> {
    const question = addressOf(endpoint, given);
    const response = await ask(endpoint, given, { headers: { 'if-none-match': tags.get(question) } });
    if (response.status === 304) return null;
    const { body, tag } = await read<AnswerTo<Of>>(response);
    if (tag === null) tags.delete(question);
    else tags.set(question, tag);
    return body;
  }

  return { call, getOk, getJson, getFile, getIfChanged };
}

/** Requests without an access token: they open, renew or end a session by the browser's cookie. */
export const askOpenly: Ask = async (endpoint, given, how) => read(await askWith('')(endpoint, given, how));

/** `token`: empty for none. */
const askWith =
  (token: string): AskRaw =>
  async (endpoint, given, { headers = {}, expiry = AbortSignal.timeout(responseTimeout) } = {}) => {
    const { body, tag, signal }: Call = given;
    const path = addressOf(endpoint, given);
    const sent = {
      method: endpoint.replace(/ .*/, '').toUpperCase(),
      ...(body && { body: JSON.stringify(body) }),
      credentials: byCookie.test(path) ? ('same-origin' as const) : ('omit' as const),
      signal: signal ? AbortSignal.any([signal, expiry]) : expiry,
      headers: {
        authorization: token ? `Bearer ${token}` : undefined,
        'content-type': body && 'application/json',
        'if-match': tag ?? undefined,
        ...headers,
      },
    };
    const response = await send(base + path, sent, signal);
    learnServiceTime(response.headers.get('date'));
    return response;
  };

const read = async <Body>(response: Response): Promise<Called<Body>> => ({
  body: await readJson(await expectJson(response)),
  tag: response.headers.get('etag'),
});

export const asText = { headers: { accept: 'text/plain' } };
export const asJson = { headers: { accept: 'application/json' } };

const addressOf = (endpoint: string, { params = {}, query }: Call): string =>
  withQuery(
    endpoint.replace(/^\w+ /, '').replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? '')),
    query,
  );

/** The only endpoints that get the session cookie. */
const byCookie = /^\/v1\/(sign-|people\/me)/;

/** Whether a 401 is about a wrong password rather than the token. */
const isAboutPassword = async (response: Response): Promise<boolean> =>
  isJson(response) && (await errorOf(response.clone())).code === 'invalid_credentials';
