/** Visitors who decide, and browsers that send each decision until the service has it, as the widget does. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitAfter, withJitter } from '../../../apps/widget/backoff.ts';
import { send } from '../../../apps/widget/send.ts';
import type { Site } from '../../stack/client.ts';
import { waitUntil } from '../../stack/wait.ts';
import type { Scene } from '../drill.ts';
import { type Attempt, type Body, makeBody } from '../load.ts';
import type { Supervised } from './processes.ts';

/** milliseconds: 50 decisions a second */
const every = 20;
/** Every so many decisions are of a visitor who will ask to be erased. */
const erasedOneOf = 100;
/** How their ids begin, so that what is left of them can be searched for. */
export const toErase = 'erase-me-';
/** milliseconds: the longest outage, and what a browser waits after it */
const patience = 150_000;

export interface Visit {
  site: Site;
  visitorId: string;
}

export type Clients = ReturnType<typeof startClients>;

/** Any of them, as a load balancer chooses that does not know yet who is away. */
export const anyOf = (apis: Supervised[]): Supervised => {
  const api = apis[Math.floor(Math.random() * apis.length)];
  if (!api) throw new Error('there is no API');
  return api;
};

export function startClients({ sites, load, expect }: Scene, apis: Supervised[]) {
  const waiting = new Set<string>();
  const erasable: Visit[] = [];
  let count = 0;

  const attempt = async (site: Site, body: Body) => {
    const api = anyOf(apis);
    const started = performance.now();
    const { domainId, apiKey } = site;
    const outcome = await send({ api: api.baseUrl(), domain: domainId, key: apiKey }, JSON.stringify(body));
    const milliseconds = performance.now() - started - api.frozenSince(started);
    const note = (result: Omit<Attempt, 'site' | 'body' | 'milliseconds'>) =>
      load.attempts.push({ site, body, milliseconds, isErased: body.visitorId.startsWith(toErase), ...result });
    if ('receipt' in outcome) note({ outcome: 'acknowledged', status: 202, how: outcome.receipt.status });
    else if ('wait' in outcome) note({ outcome: 'unknown', status: 0, how: '' });
    else note({ outcome: 'refused', status: 400, how: '' });
    return outcome;
  };

  /** Resolves once the service has the decision. */
  const decide = async (site: Site, visitorId?: string): Promise<void> => {
    const body = { ...makeBody(), ...(visitorId !== undefined && { visitorId }) };
    waiting.add(body.id);
    for (let failures = 0; ; failures += 1) {
      const outcome = await attempt(site, body);
      if (!('wait' in outcome)) {
        expect('receipt' in outcome, `a decision was refused: ${JSON.stringify(outcome)}`);
        waiting.delete(body.id);
        return;
      }
      await sleep(withJitter(Math.max(outcome.wait, waitAfter(failures))));
    }
  };

  const next = async () => {
    count += 1;
    const site = sites[count % sites.length];
    if (!site) throw new Error('there is no site');
    if (count % erasedOneOf !== 0) return decide(site);
    const visitorId = `${toErase}${count}`;
    await decide(site, visitorId);
    erasable.push({ site, visitorId });
  };
  const timer = setInterval(() => void next(), every);

  return {
    decide,
    /** visitors whose decision is acknowledged and who now ask to be erased */
    erasable,
    /** Resolves once all decisions are delivered. */
    end: async () => {
      clearInterval(timer);
      await waitUntil(() => waiting.size === 0, { deadlineMs: patience, intervalMs: 100 });
      expect(waiting.size === 0, `I5: ${waiting.size} decisions were not delivered within ${patience / 1_000} s`);
    },
  };
}
