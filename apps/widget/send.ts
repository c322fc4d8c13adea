/** One attempt to send something, and what the answer means for a record. */
import type { Receipt } from '#libs/record/contract';

export interface Target {
  /** base address of the service, such as https://consent.example.com */
  api: string;
  domain: string;
  key: string;
}

export type Outcome =
  | { receipt: Receipt }
  /** `wait`: milliseconds that the service asks for */
  | { wait: number }
  /** the id's time is out of range; `serverTime` is the service's clock in Unix milliseconds */
  | { serverTime: number }
  /** the key, the origin or the address is refused, which the site's operator can put right */
  | { refused: string }
  /** the record itself is at fault: a retry would not help */
  | { reason: string };

/** Milliseconds. The service answers within 5 s. */
const timeout = 15_000;
const unacceptable = [400, 413, 415];

/** A receipt, or a problem; anything at all where the answer is not the service's. */
type Answer = Receipt & { code?: string; detail: string; serverTime: string };

export const ask = ({ api, domain, key }: Target, method: string, path: string, body: string): Promise<Response> =>
  fetch(`${api.replace(/\/$/, '')}/v1/consent/${domain}/${path}`, {
    method,
    // the request outlives the page
    keepalive: true,
    credentials: 'omit',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body,
    signal: AbortSignal.timeout(timeout),
  });

export async function send(target: Target, body: string): Promise<Outcome> {
  try {
    const response = await ask(target, 'POST', 'record', body);
    const { status } = response;
    const answer = (await response.json().catch(() => ({}))) as Answer;
    if (response.ok && answer.id) return { receipt: answer };
    // without a code the answer is not the service's but that of a captive portal or a proxy, so a retry helps
    if (status === 429 || status >= 500 || !answer.code) {
      return { wait: Number(response.headers.get('Retry-After')) * 1000 || 0 };
    }
    if (answer.code === 'id_time_out_of_range') return { serverTime: Date.parse(answer.serverTime) };
    return unacceptable.includes(status) ? { reason: answer.detail } : { refused: answer.detail };
  } catch {
    return { wait: 0 };
  }
}
