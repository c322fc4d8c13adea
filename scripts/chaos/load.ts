/** Visitors who decide, and browsers that send each decision until the service has it. Every attempt is noted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { makeIdAt } from '#libs/base/terms/calendar';
import { type Decision, decisions } from '#libs/base/terms/terms';
import { waitAfter, withJitter } from '../../apps/widget/backoff.ts';
import { postRecord, type Site } from '../stack/sites.ts';
import { waitUntil } from '../stack/wait.ts';
import type { AppProcess } from './stack.ts';

declare global {
  /** of browsers, which what is imported of the widget is written for */
  function reportError(error: unknown): void;
}

export type Body = ReturnType<typeof makeBody> & { model?: string };

export interface Attempt {
  site: Site;
  body: Body;
  /** of the response; 0 for none */
  status: number;
  /** `queued` or `persisted` if acknowledged, else the problem's code */
  how: string;
  /** 0 if no API could respond; without the time in which this process stood still */
  milliseconds: number;
  /** when the response came, in Unix milliseconds */
  at?: number;
  /** null: none was sent */
  userAgent: string | null;
}

/** How the ids of visitors begin who may have been erased by the end, so that what is left of them can be searched for. */
export const toErase = 'erase-me-';

export const isAcknowledged = ({ status }: Attempt): boolean => status === 202;
/** A 4xx, so it must not be stored. What is neither may be stored once or not at all. */
export const isRefused = ({ status }: Attempt): boolean => status >= 400 && status < 500;

const rateOfDrills = 100;
/** milliseconds */
const tick = 20;
/** milliseconds: of what the load is late with, no more is made up for */
const longestGap = 200;
/** decisions that are not delivered yet, beyond which nobody decides */
const mostWaiting = 400;
/** Milliseconds: the widget waits longer, but then nobody would decide for long after an outage. */
const longestWait = 10_000;
/** milliseconds: longer than the service may take, so that a late response counts as late, not as none */
const patience = 12_000;
/** milliseconds in which records are acknowledged, and all that waits is delivered, once there is no fault any more */
const deliveredWithin = 60_000;
/** milliseconds */
const day = 24 * 60 * 60 * 1_000;
const ahead = 2 * 60 * 1_000;

export function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('there is no such part');
  return value;
}

let serial = 0;
export const makeBody = (time = Date.now()) => {
  serial += 1;
  const decision: Decision = decisions[serial % decisions.length] ?? 'custom';
  return {
    id: makeIdAt(time),
    decision,
    // who decides again, and again
    visitorId: `visitor-${Math.floor(serial / 3)}`,
    preferences: { analytics: serial % 2 === 0, marketing: serial % 3 === 0 },
    language: serial % 4 === 0 ? 'de' : 'en-GB',
    bannerVersion: `2.${serial % 5}`,
    policyVersion: `2026-0${1 + (serial % 9)}`,
    pageUrl: `https://shop.example/${serial % 50}`,
    metadata: { serial },
  };
};

/** milliseconds between two looks, and that one is late where the process stood still */
const lookEvery = 20;
const noticed = 100;

const stalls: { from: number; to: number }[] = [];
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  if (now - last > noticed) stalls.push({ from: last, to: now });
  last = now;
}, lookEvery).unref();

/** Milliseconds of standing still since `since`, by `performance.now()`. */
export function stoodStill(since: number): number {
  let sum = 0;
  for (let at = stalls.length - 1; at >= 0; at -= 1) {
    const { from, to } = stalls[at] ?? { from: 0, to: 0 };
    if (to <= since) break;
    sum += to - Math.max(from, since);
  }
  // the timer has not noticed the current one yet
  const now = performance.now();
  return now - last > noticed ? sum + now - Math.max(last, since) : sum;
}

/** `targetOf` returns any API that takes requests, as a load balancer would know it; `rate`: decisions a second. */
export function createLoad(sites: Site[], targetOf: () => AppProcess | undefined, rate = rateOfDrills) {
  const attempts: Attempt[] = [];
  const refused: Attempt[] = [];
  const others: Site[] = [];
  const waiting = new Set<Promise<unknown>>();
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;

  const send = async (site: Site, body: Body, target = targetOf()): Promise<Attempt> => {
    const userAgent = userAgentOf(body);
    const started = performance.now();
    const answer = target ? await post(target.baseUrl, site, body, userAgent) : { status: 0, how: '' };
    const took = performance.now() - started - stoodStill(started);
    const milliseconds = !target || target.wasFrozenSince(started) ? 0 : took;
    const attempt = { site, body, ...answer, milliseconds, at: Date.now(), userAgent };
    attempts.push(attempt);
    return attempt;
  };

  /** Again and again until the service has it, as the widget does. */
  const deliver = async (site: Site, body: Body): Promise<void> => {
    for (let failures = 0; !isOver; failures += 1) {
      const attempt = await send(site, body);
      if (isRefused(attempt)) refused.push(attempt);
      if (isRefused(attempt) || isAcknowledged(attempt)) return;
      await sleep(Math.min(longestWait, withJitter(waitAfter(failures))));
    }
  };

  const decide = async (): Promise<void> => {
    // some are late, and the clocks of some browsers are ahead
    const body = makeBody(Date.now() - (serial % 50 === 0 ? day : serial % 7 === 0 ? -ahead : 0));
    const places = serial % 3 === 0 && others.length > 0 ? others : sites;
    const site = places[Math.floor(serial / 3) % places.length];
    if (!site) throw new Error('there is no site');
    // now and then a client sends its record again, changed: the first stored one counts
    const isRepeated = serial % 10 === 0;
    await deliver(site, body);
    if (isRepeated) await deliver(site, { ...body, decision: 'withdraw' });
  };

  return {
    attempts,
    /** decisions with a 4xx */
    refused,
    /** sites that get every third decision, and are checked less closely */
    others,
    send,
    deliver,
    begin: () => {
      clearInterval(timer);
      let last = performance.now();
      let due = 0;
      timer = setInterval(() => {
        const now = performance.now();
        due += (Math.min(longestGap, now - last) * rate) / 1_000;
        last = now;
        for (; due >= 1; due -= 1) {
          if (waiting.size >= mostWaiting) continue;
          const decided = decide().finally(() => waiting.delete(decided));
          waiting.add(decided);
        }
      }, tick);
    },
    /** Resolves once every decision is delivered. */
    end: async () => {
      clearInterval(timer);
      if (await waitUntil(() => waiting.size === 0, { deadlineMs: deliveredWithin })) return;
      throw new Error(`I5: ${waiting.size} decisions were not delivered within ${deliveredWithin} ms`);
    },
    abandon: () => {
      clearInterval(timer);
      isOver = true;
    },
    acknowledged: async (wanted: number) => {
      const goal = attempts.filter(isAcknowledged).length + wanted;
      const isReached = () => attempts.filter(isAcknowledged).length >= goal;
      if (await waitUntil(isReached, { deadlineMs: deliveredWithin })) return;
      throw new Error(`fewer than ${wanted} records were acknowledged within ${deliveredWithin} ms`);
    },
  };
}

/** Every other has none: to store a record without one, and without a notice, is a single statement. */
function userAgentOf({ metadata: { serial } }: Body): string | null {
  const version = 100 + (serial % 40);
  return serial % 2 === 0
    ? null
    : `Mozilla/5.0 (X11; Linux x86_64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`;
}

async function post(baseUrl: string, site: Site, body: Body, userAgent: string | null) {
  try {
    const headers = { 'user-agent': userAgent ?? '' };
    const response = await postRecord(baseUrl, site, body, AbortSignal.timeout(patience), headers);
    const { status: how, code = how } = (await response.json()) as { status: unknown; code?: unknown };
    return { status: response.status, how: String(code) };
  } catch {
    return { status: 0, how: '' };
  }
}
