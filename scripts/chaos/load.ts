/** A bounded load that notes the outcome of every attempt. */
import { type Decision, decisions } from '#libs/contract/terms';
import { makeIdAt } from '#libs/contract/uuid';
import { postRecord, type Site } from '../stack/client.ts';
import { waitUntil } from '../stack/wait.ts';

/** `refused`: a 4xx, so it must not be stored. `unknown`: no answer or a 5xx, so it may be stored once or not at all. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

export type Body = ReturnType<typeof makeBody>;

export interface Attempt {
  site: Site;
  body: Body;
  outcome: Outcome;
  /** the answer's status; 0 for none */
  status: number;
  /** `queued` or `persisted` if acknowledged */
  how: string;
  milliseconds: number;
  /** null: none was sent; absent where the client chose it */
  userAgent?: string | null;
  /** the visitor has been erased since */
  isErased?: boolean;
}

const perTick = 5;
/** milliseconds: 250 records a second, and fewer on a busy machine */
const tick = 20;
/** milliseconds: of what a steady load is late with, no more is made up for */
const longestGap = 1_000;
const maxInFlight = 400;
/** milliseconds: longer than the service may take, so that a late answer counts as late, not as unknown */
const patience = 12_000;

let serial = 0;
export const makeBody = (time = Date.now()) => {
  serial += 1;
  const decision: Decision = decisions[serial % decisions.length] ?? 'custom';
  return {
    id: makeIdAt(time),
    decision,
    visitorId: `visitor-${serial}`,
    preferences: { analytics: serial % 2 === 0, marketing: serial % 3 === 0 },
    language: serial % 4 === 0 ? 'de' : 'en-GB',
    bannerVersion: `2.${serial % 5}`,
    policyVersion: `2026-0${1 + (serial % 9)}`,
    pageUrl: `https://shop.example/${serial % 50}`,
    metadata: { serial },
  };
};

/**
 * `targets` returns the base URLs that take requests now, as a load balancer would know them. `rate`: records a second,
 * kept up however late ticks come.
 */
export function createLoad(sites: Site[], targets: () => string[], rate?: number) {
  const attempts: Attempt[] = [];
  const inFlight = new Set<Promise<unknown>>();
  let timer: NodeJS.Timeout | undefined;
  let count = 0;
  const isAcknowledged = ({ outcome }: Attempt) => outcome === 'acknowledged';

  const send = async (site: Site, body: Body, baseUrl?: string): Promise<Attempt> => {
    const urls = targets();
    const url = baseUrl ?? urls[count++ % Math.max(1, urls.length)];
    const started = performance.now();
    const userAgent = userAgentOf(body);
    const { status, how } = url ? await post(url, site, body, userAgent) : { status: 0, how: '' };
    const milliseconds = url ? performance.now() - started : 0;
    const attempt = { site, body, status, how, outcome: outcomeOf(status), milliseconds, userAgent };
    attempts.push(attempt);
    return attempt;
  };

  const sendNext = () => {
    const site = sites[count % sites.length];
    if (!site || inFlight.size >= maxInFlight) return;
    const body = makeBody();
    // now and then a client sends its record again, changed: the first stored one counts
    const again = serial % 10 === 0;
    const work = send(site, body).then(() => (again ? send(site, { ...body, decision: 'withdraw' }) : undefined));
    inFlight.add(work);
    void work.finally(() => inFlight.delete(work));
  };

  return {
    attempts,
    send,
    begin: () => {
      clearInterval(timer);
      let last = performance.now();
      timer = setInterval(() => {
        const now = performance.now();
        const gap = Math.min(longestGap, now - last);
        last = now;
        const due = rate === undefined ? perTick : Math.round((gap * rate) / 1_000);
        for (let each = 0; each < due; each += 1) sendNext();
      }, tick);
    },
    end: async () => {
      clearInterval(timer);
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    acknowledged: async (wanted: number, within = 30_000) => {
      const goal = attempts.filter(isAcknowledged).length + wanted;
      const isReached = () => attempts.filter(isAcknowledged).length >= goal;
      if (await waitUntil(isReached, { deadlineMs: within })) return;
      throw new Error(`fewer than ${wanted} records were acknowledged within ${within} ms`);
    },
    failedSince: (before: number) => attempts.slice(before).filter((attempt) => !isAcknowledged(attempt)).length,
  };
}

const outcomeOf = (status: number): Outcome => {
  if (status === 202) return 'acknowledged';
  return status >= 400 && status < 500 ? 'refused' : 'unknown';
};

/** Every other has none: to store a record without one, and without a notice, is a single statement. */
function userAgentOf({ metadata: { serial } }: Body): string | null {
  const version = 100 + (serial % 40);
  return serial % 2 === 0
    ? null
    : `Mozilla/5.0 (X11; Linux x86_64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`;
}

async function post(
  baseUrl: string,
  site: Site,
  body: Body,
  userAgent: string | null,
): Promise<{ status: number; how: string }> {
  try {
    const headers = { 'user-agent': userAgent ?? '' };
    const response = await postRecord(baseUrl, site, body, AbortSignal.timeout(patience), headers);
    const { status: how } = (await response.json()) as { status: unknown };
    return { status: response.status, how: String(how) };
  } catch {
    return { status: 0, how: '' };
  }
}
