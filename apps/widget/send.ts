/** One attempt to hand a record to the service, and what its answer means for the record. */
import type { Receipt } from '#libs/contract/responses';

export interface Target {
  /** where the service is, such as https://consent.example.com */
  api: string;
  domain: string;
  key: string;
}

export type Outcome =
  | { receipt: Receipt }
  /** `wait`: milliseconds that the service asks for */
  | { wait: number }
  /** the id's time is outside the window; by the service's clock it is `serverTime` (Unix milliseconds) */
  | { serverTime: number }
  /** sending it again would not help */
  | { reason: string };

/** Milliseconds; the service answers within 5 s. */
const patience = 15_000;

export async function send({ api, domain, key }: Target, body: string): Promise<Outcome> {
  try {
    const response = await fetch(`${api.replace(/\/$/, '')}/v1/consent/${domain}/record`, {
      method: 'POST',
      // the request outlives the page
      keepalive: true,
      credentials: 'omit',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body,
      signal: AbortSignal.timeout(patience),
    });
    const { status } = response;
    const answer = await response.json().catch(() => ({}));
    if (response.ok && answer.id) return { receipt: answer };
    // what has no code of ours is the answer of something between, such as a hotel's sign-in page, and passes
    if (status === 429 || status >= 500 || !answer.code) {
      return { wait: Number(response.headers.get('Retry-After')) * 1000 || 0 };
    }
    if (answer.code === 'id_time_out_of_range') return { serverTime: Date.parse(answer.serverTime) };
    return { reason: answer.detail };
  } catch {
    return { wait: 0 };
  }
}
