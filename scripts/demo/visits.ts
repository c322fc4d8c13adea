/**
 * What the visitors of the demo's sites decided. A visit depends on its site, its day and its number on that day, and on
 * nothing else: running the demo again makes the same ids, asking for more adds to what is there, and on a later day
 * only the days since are new.
 */
import { v7 } from 'uuid';
import { addDays, dayOf, daysBetween, startOf } from '#libs/contract/calendar';
import type { NewRecord } from '#libs/contract/record';
import type { Decision } from '#libs/contract/terms';
import { Random } from './random.ts';
import { categories, countries, crawler, hours, pages, type Site, season, sites, userAgents } from './sites.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365.25 * day;
/** growth counts from here */
const epoch = Date.UTC(2026, 6, 1);
/** records of a visit, on average: some visitors decide again */
const recordsPerVisit = 1.04;

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
  return daysBetween(addDays(last, 1 - Math.round(length)), last).flatMap((date) =>
    sites.map((site) => {
      const random = new Random(site.name, date);
      const isWeekend = [0, 6].includes(new Date(startOf(date)).getUTCDay());
      const weekday = (isWeekend ? site.weekend : 1) / ((5 + 2 * site.weekend) / 7);
      const growth = site.growth ** ((startOf(date) - epoch) / year);
      // some days go better than others
      const luck = 0.86 + 0.28 * random.next();
      const daily = (records / length / recordsPerVisit) * (site.share / 100);
      const visits = Math.floor(daily * seasonAt(date) * weekday * growth * luck + random.next());
      return { site, date, visits };
    }),
  );
}

/** The decisions of that day's visitors and what became of them later, as far as the service had received it. */
export function recordsOf({ site, date, visits }: SiteDay, { until }: Period): Made[] {
  return Array.from({ length: visits }, (_, number) => visit(site, date, new Random(site.name, date, number)))
    .flat()
    .filter(({ receivedAt }) => Date.parse(receivedAt) <= until);
}

const averageMonth = season.reduce((sum, each) => sum + each, 0) / 12;

/** Around 1 over a year; it changes evenly from the middle of a month to the middle of the next. */
function seasonAt(date: string): number {
  const [, month = 1, dayOfMonth = 1] = date.split('-').map(Number);
  const place = month + 11 + (dayOfMonth - 15) / 31;
  const at = (index: number) => (season[index % 12] ?? 1) / averageMonth;
  const before = Math.floor(place);
  return at(before) + (at(before + 1) - at(before)) * (place - before);
}

const hourWeights = Object.fromEntries(hours.map((weight, hour) => [hour, weight]));

/** A visitor's first decision, and perhaps a later one. */
function visit(site: Site, date: string, random: Random): Made[] {
  const country = random.pick(site.countries);
  const { ahead, language } = countries[country];
  const utcHour = (Number(random.pick(hourWeights)) - ahead + 24) % 24;
  const at = startOf(date) + (utcHour + random.next()) * hour;
  const bot = random.isTrue(0.008);
  const userAgent = bot ? crawler : random.pick(userAgents(chromeAt(at)));
  const gpc = userAgent.includes('Firefox') && random.isTrue(0.3);
  const ip = addressOf(random);
  const visitorId = Buffer.from(random.bytes(16)).toString('hex');
  const signals = { ...(gpc && { gpc }), ...(bot && { bot }) };
  const visitor = { visitorId, language, country, ip, userAgent, metadata: { demo: true }, ...signals };

  const decide = (time: number, decision: Decision, source: NewRecord['source']): Made => ({
    ...visitor,
    id: v7({ msecs: Math.floor(time), random: random.bytes(16) }),
    decision,
    source,
    // at once, or much later for a visitor who was offline
    receivedAt: new Date(time + (random.isTrue(0.985) ? random.wait(160) : random.wait(9 * hour))).toISOString(),
    preferences: preferencesOf(decision, random),
    bannerVersion: bannerAt(time),
    policyVersion: dayOf(time).slice(0, 4),
    pageUrl: `https://${site.name}${random.pick(pages)}`,
  });
  if (bot) return [decide(at, 'accept_all', 'banner')];
  if (gpc) return [decide(at, 'reject_all', 'gpc')];
  const first = decide(at, random.pick(opinionOf(site, at)), 'banner');
  const hasGiven = first.decision !== 'reject_all';
  // some withdraw, half of them within minutes; others change their mind
  const later = at + minute + random.wait(random.isTrue(0.5) ? 5 * minute : 26 * day);
  if (hasGiven && random.isTrue(0.04)) return [first, decide(later, 'withdraw', 'preferences')];
  if (random.isTrue(0.02)) return [first, decide(later, hasGiven ? 'custom' : 'accept_all', 'preferences')];
  return [first];
}

/** A new Chrome every four weeks. */
const chromeAt = (time: number): number => 131 + Math.floor((time - Date.UTC(2024, 10, 12)) / (28 * day));

/** From the ranges reserved for benchmarks and documentation (RFC 2544, RFC 3849), shortened as the API does. */
function addressOf(random: Random): string {
  const [one = 0, two = 0, three = 0] = random.bytes(3);
  if (random.isTrue(0.72)) return `198.${18 + (one & 1)}.${two}.0`;
  return `2001:db8:${((two << 8) | three || 1).toString(16)}::`;
}

/** The banner is redesigned every four months. */
const bannerAt = (time: number): string => {
  const date = new Date(time);
  return `${date.getUTCFullYear() - 2023}.${Math.floor(date.getUTCMonth() / 4)}.0`;
};

/** A redesign changes how many accept. */
function opinionOf({ name, accept, reject }: Site, time: number) {
  const shift = 14 * (new Random(name, bannerAt(time)).next() - 0.5);
  return { accept_all: accept + shift, reject_all: reject - shift, custom: 100 - accept - reject };
}

/** A custom choice allows some categories and refuses others: all or nothing would be another decision. */
function preferencesOf(decision: Decision, random: Random): Record<string, boolean> {
  const chosen = random.isTrue(0.6) ? 'functional' : 'analytics';
  const allows = (name: string) => decision === 'accept_all' || (decision === 'custom' && name === chosen);
  return Object.fromEntries(categories.map((name) => [name, allows(name)]));
}
