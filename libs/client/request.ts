/** Sends requests and retries them. */
import { AssentError, errorOf, isJson, noResponseError } from './assent-error.ts';

/** Milliseconds. The service responds within 5 s, so after a longer wait the response is lost. */
export const responseTimeout = 8_000;
/**
 * The longest wait before the first retry, in milliseconds; it doubles each time. Waits are random, from half of it up, and
 * never shorter than `Retry-After`.
 */
const firstWait = 250;

type Fetch = typeof fetch;
export type Query = Record<string, string | number | boolean | null | undefined>;

export interface Sent extends Omit<RequestInit, 'headers' | 'signal'> {
  headers?: Record<string, string | undefined>;
  signal: AbortSignal;
}

/** Absent values are left out. */
export function withQuery(path: string, query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value != null) given.set(name, String(value));
  return given.size > 0 ? `${path}?${given}` : path;
}

/** Resolves with any status. Without a response, rejects with an `AssentError`, or with `caller`'s reason if that is aborted. */
export async function send(
  url: string,
  { headers = {}, ...sent }: Sent,
  caller?: AbortSignal | undefined,
  by: Fetch = fetch,
): Promise<Response> {
  const given = headersOf(headers);
  try {
    return await by(url, { ...sent, headers: given });
  } catch (error) {
    if (caller?.aborted) throw error;
    throw noResponseError(error);
  }
}

function headersOf(given: Record<string, string | undefined>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    try {
      headers.set(name, value);
    } catch (cause) {
      throw new AssentError('invalid_options', `The header ${name} has characters that no header may have.`, { cause });
    }
  }
  return headers;
}

export async function expectOk(response: Response, isWanted = response.ok): Promise<Response> {
  if (isWanted) return response;
  throw await errorOf(response);
}
export const expectJson = (response: Response): Promise<Response> =>
  expectOk(response, response.ok && isJson(response));

/** A response that was cut off is an error. */
export const readText = (response: Response): Promise<string> => response.text().catch(failCutOff);
export const parseJson = <Body>(text: string): Body => {
  try {
    return JSON.parse(text);
  } catch (error) {
    return failCutOff(error);
  }
};
export const readJson = async <Body>(response: Response): Promise<Body> => parseJson(await readText(response));

const failCutOff = (cause: unknown): never => {
  throw noResponseError(cause);
};

/** The same bytes. If they are cut off, the stream fails with an `AssentError`, or with `caller`'s reason. */
export function streamOf(body: ReadableStream<Uint8Array> | null, caller?: AbortSignal): ReadableStream<Uint8Array> {
  const reader = body?.getReader();
  return new ReadableStream({
    start: (controller) => {
      caller?.addEventListener('abort', () => {
        controller.error(caller.reason);
        void reader?.cancel(caller.reason);
      });
    },
    pull: async (controller) => {
      const piece = await reader?.read().catch(failCutOff);
      if (piece?.value) controller.enqueue(piece.value);
      else controller.close();
    },
    cancel: (reason) => reader?.cancel(reason),
  });
}

export interface RetryOptions {
  fetch?: Fetch | undefined;
  /** milliseconds of a call with all its retries */
  timeout: number;
  retries: number;
  caller?: AbortSignal | undefined;
}

/** Sends until `as` accepts a response, an error is not transient, or the retries or the time are used up. */
export async function sendWithRetries<T>(
  url: string,
  sent: Omit<Sent, 'signal'>,
  { fetch, timeout, retries, caller }: RetryOptions,
  as: (response: Response) => Promise<T>,
): Promise<T> {
  const until = performance.now() + timeout;
  const once = async (signal: AbortSignal) => as(await expectOk(await send(url, { ...sent, signal }, caller, fetch)));
  for (let tries = 0; ; tries += 1) {
    const left = Math.max(1, until - performance.now());
    try {
      return await within(Math.min(left, responseTimeout), caller, once);
    } catch (error) {
      if (!(error instanceof AssentError) || !error.isTransient || tries >= retries) throw error;
      const wait = Math.max(error.retryAfter, firstWait * 2 ** tries * (0.5 + Math.random() / 2));
      if (performance.now() + wait >= until) throw error;
      await within(timeout, caller, () => new Promise((resolve) => setTimeout(resolve, wait)));
    }
  }
}

/** With a timer instead of `AbortSignal.any` or `AbortSignal.timeout`: Node 20 may collect the signal, and its timeout is lost. */
function within<T>(
  milliseconds: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const own = new AbortController();
    const end = (reason: unknown) => {
      reject(reason);
      own.abort(reason);
    };
    const onAbort = () => end(caller?.reason);
    if (caller?.aborted) return onAbort();
    const late = () => end(new AssentError('timeout', `The service did not answer within ${milliseconds / 1_000} s.`));
    const timer = setTimeout(late, milliseconds);
    caller?.addEventListener('abort', onAbort);
    work(own.signal)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        caller?.removeEventListener('abort', onAbort);
      });
  });
}
