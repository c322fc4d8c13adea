/**
 * What the visitors of the demo's sites decided. A visit depends on its site, its day and its number on that day, and on
 * nothing else: running the demo again makes the same ids, asking for more adds to what is there, and on a later day
 * only the days since are new.
 */
import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { addDays, dayOf, daysBetween, startOf } from '#libs/contract/calendar';
import type { NewRecord } from '#libs/contract/record';
import { type Decision, decisions } from '#libs/contract/terms';
import { categories, crawler, hours, pages, type Site, season, sites, userAgents } from './sites.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365.25 * day;
/** growth counts from here */
const epoch = Date.UTC(2026, 6, 1);
/** records of a visit, on average: some visitors decide again */
const recordsPerVisit = 1.04;

/** A visit takes some 150 of them. */
const outputLength = 256;

/** Randomness that repeats: the same words give the same numbers, on every machine. */
class Random {
  readonly #bytes: Buffer;
  #taken = 0;

  constructor(...words: (string | number)[]) {
    this.#bytes = createHash('shake256', { outputLength }).update(words.join('\n')).digest();
  }

  bytes(count: number): Buffer {
    this.#taken += count;
    return this.#bytes.subarray(this.#taken - count, this.#taken);
  }

  /** from 0 to less than 1 */
  next(): number {
    return this.bytes(4).readUInt32LE() / 2 ** 32;
  }

  isTrue(probability: number): boolean {
    return this.next() < probability;
  }

  /** one of the keys, as often as its weight says */
  pick(weights: Readonly<Record<string, number>>): string {
    const entries = Object.entries(weights);
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    const found = entries.find(([, weight]) => {
      rest -= weight;
      return rest < 0;
    });
    return found?.[0] ?? '';
  }

  /** a waiting time of this average: mostly shorter, sometimes much longer */
  wait(average: number): number {
    return -Math.log(1 - this.next()) * average;
  }
}

export interface Period {
  /** about how many records in all of `months` */
  records: number;
  months: number;
  /** Unix milliseconds; nothing is later */
  until: number;
}

/** A record that does not know its domain's id yet. */
export type Made = Omit<NewRecord, 'domainId'>;

/** The visits to one site on one UTC day. */
export interface SiteDay {
  site: Site;
  /** `YYYY-MM-DD` */
  date: string;
  visits: number;
}

/** Oldest first. */
export function planDays({ records, months, until }: Period): SiteDay[] {
  const last = dayOf(until);
  const length = (months * year) / 12 / day;
  return daysBetween(addDays(last, 1 - Math.round(length)), last).flatMap((date) => {
    const start = new Date(startOf(date));
    const isWeekend = [0, 6].includes(start.getUTCDay());
    const seasonal = season[start.getUTCMonth()] ?? 1;
    return sites.map((site) => {
      const random = new Random(site.name, date);
      const { share, weekend = 1.1 } = site;
      const weekday = (isWeekend ? weekend : 1) / ((5 + 2 * weekend) / 7);
      const growth = site.growth ** ((start.getTime() - epoch) / year);
      // some days go better than others
      const luck = 0.86 + 0.28 * random.next();
      const daily = (records / length / recordsPerVisit) * (share / 100);
      return { site, date, visits: Math.floor(daily * seasonal * weekday * growth * luck + random.next()) };
    });
  });
}

/** The decisions of that day's visitors and what became of them later, as far as the service had received it. */
export function recordsOf({ site, date, visits }: SiteDay, { until }: Period): Made[] {
  return Array.from({ length: visits }, (_, number) => visit(site, date, new Random(site.name, date, number)))
    .flat()
    .filter(({ receivedAt }) => Date.parse(receivedAt) <= until);
}

const hourWeights = Object.fromEntries(hours.entries());

/** A visitor's first decision, and perhaps a later one. */
function visit({ name, languages, accept, reject }: Site, date: string, random: Random): Made[] {
  const language = random.pick(languages);
  const at = startOf(date) + (Number(random.pick(hourWeights)) + random.next()) * hour;
  const bot = random.isTrue(0.008);
  const userAgent = bot ? crawler : random.pick(userAgents);
  const gpc = userAgent.includes('Firefox') && random.isTrue(0.3);
  const visitor = {
    visitorId: random.bytes(16).toString('hex'),
    language,
    country: language.slice(3),
    ip: addressOf(random),
    userAgent,
    metadata: { demo: true },
    ...(gpc && { gpc }),
    ...(bot && { bot }),
  };

  const decide = (time: number, decision: Decision, source: NewRecord['source']): Made => ({
    ...visitor,
    id: v7({ msecs: Math.floor(time), random: random.bytes(16) }),
    decision,
    source,
    // at once, or much later for a visitor who was offline
    receivedAt: new Date(time + random.wait(random.isTrue(0.985) ? 160 : 9 * hour)).toISOString(),
    preferences: preferencesOf(decision, random),
    bannerVersion: bannerAt(new Date(time)),
    policyVersion: dayOf(time).slice(0, 4),
    pageUrl: `https://${name}${random.pick(pages)}`,
  });
  if (bot) return [decide(at, 'accept_all', 'banner')];
  if (gpc) return [decide(at, 'reject_all', 'gpc')];
  const opinion = random.pick({ accept_all: accept, reject_all: reject, custom: 100 - accept - reject });
  const first = decide(at, decisions.find((each) => each === opinion) ?? 'custom', 'banner');
  const hasGiven = first.decision !== 'reject_all';
  // some withdraw, half of them within minutes; others change their mind
  const later = at + minute + random.wait(random.isTrue(0.5) ? 5 * minute : 26 * day);
  if (hasGiven && random.isTrue(0.04)) return [first, decide(later, 'withdraw', 'preferences')];
  if (random.isTrue(0.02)) return [first, decide(later, hasGiven ? 'custom' : 'accept_all', 'preferences')];
  return [first];
}

/** From the ranges reserved for benchmarks and documentation (RFC 2544, RFC 3849), shortened as the API does. */
function addressOf(random: Random): string {
  const [one = 0, two = 0, three = 0] = random.bytes(3);
  if (random.isTrue(0.72)) return `198.${18 + (one & 1)}.${two}.0`;
  return `2001:db8:${((two << 8) | three || 1).toString(16)}::`;
}

/** The banner is redesigned every four months. */
const bannerAt = (time: Date): string => `${time.getUTCFullYear() - 2023}.${Math.floor(time.getUTCMonth() / 4)}.0`;

/** A custom choice allows some categories and refuses others: all or nothing would be another decision. */
function preferencesOf(decision: Decision, random: Random): Record<string, boolean> {
  const chosen = random.isTrue(0.6) ? 'functional' : 'analytics';
  const allows = (name: string) => decision === 'accept_all' || (decision === 'custom' && name === chosen);
  return Object.fromEntries(categories.map((name) => [name, allows(name)]));
}
