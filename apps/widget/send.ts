/** One attempt to send something, and what the response means for a record. */
import type { Receipt } from '#libs/record/contract';
import { includes, now, slice } from '#libs/widget/tamper-proof';
import { parsed } from './json.ts';

export interface Target {
  /** base address of the service, such as https://consent.example.com */
  api: string;
  domain: string;
  key: string;
}

type Outcome =
  | { receipt: Receipt }
  /** `wait`: milliseconds that the service asks for */
  | { wait: number }
  /** the id's time is out of range; `serverTime` is the service's clock in Unix milliseconds */
  | { serverTime: number }
  /** the key, the origin or the address is refused, which the site's operator can correct */
  | { refused: string }
  /** the record itself is at fault: a retry would not help */
  | { reason: string };

/** Milliseconds. The service responds within 5 s. */
const timeout = 15_000;

/** A receipt or a problem. What a proxy sends may have none of these fields. */
type ResponseBody = Receipt & { code?: string; detail: string; serverTime: string };

/** Without a slash at the end. */
export const baseOf = (api: string): string => (api[api.length - 1] === '/' ? slice(api, 0, api.length - 1) : api);

async function ask({ api, domain, key }: Target, method: string, path: string, body: string): Promise<Response> {
  return fetch(`${baseOf(api)}/v1/consent/${domain}/${path}`, {
    method,
    // the request outlives the page
    keepalive: true,
    credentials: 'omit',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body,
    signal: AbortSignal.timeout(timeout),
  });
}

/** For requests that are not worth a retry. */
export async function quietly(target: Target, method: string, path: string, body: string): Promise<void> {
  try {
    await ask(target, method, path, body);
  } catch {
    // no retry
  }
}

/** Milliseconds; `Retry-After` gives seconds or a date. */
const waitIn = (after: string | null): number => (after ? +after * 1000 || +new Date(after) - now() || 0 : 0);

export async function send(target: Target, body: string): Promise<Outcome> {
  try {
    const response = await ask(target, 'POST', 'record', body);
    const { status } = response;
    let received = {} as ResponseBody;
    try {
      received = await response.json();
    } catch {
      // it is from a captive portal or a proxy, as below
    }
    // a service worker may return the receipt of another record
    if (response.ok && received.id === (parsed(body) as Receipt).id) return { receipt: received };
    const { code, detail } = received;
    // without a code, the response is from a captive portal or a proxy, so a retry helps
    if (status === 429 || status >= 500 || !code) {
      return { wait: waitIn(response.headers.get('Retry-After')) };
    }
    if (code === 'id_time_out_of_range') {
      const serverTime = +new Date(received.serverTime);
      // if this page has broken `Date`, the record waits: another page can read the time
      return serverTime > 0 ? { serverTime } : { wait: 0 };
    }
    return includes([400, 413, 415], status) ? { reason: detail } : { refused: detail };
  } catch {
    return { wait: 0 };
  }
}
