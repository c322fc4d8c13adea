/**
 * What the visitors of the demo's sites decided. A visit depends on its site, its day and its number on that day, and on
 * nothing else: running the demo again makes the same ids, asking for more adds to what is there, and on a later day
 * only the days since are new.
 */
import { v7 } from 'uuid';
import { addDays, dayOf, daysBetween, startOf } from '#libs/contract/calendar';
import type { NewRecord } from '#libs/contract/record';
import type { Decision } from '#libs/contract/terms';
import { timeOf } from '#libs/contract/uuid';
import { Random } from './random.ts';
import { countries, crawler, hours, type Site, sites, userAgents } from './sites.ts';

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
  const daily = records / length / recordsPerVisit;
  return daysBetween(addDays(last, 1 - Math.round(length)), last).flatMap((date) =>
    sites.map((site) => {
      const random = new Random(site.name, date);
      // some days go better than others
      const luck = 0.86 + 0.28 * random.next();
      const growth = site.growth ** ((startOf(date) - epoch) / year);
      const expected = daily * (site.share / 100) * seasonOf(site, date) * weekdayOf(site, date) * growth * luck;
      return { site, date, visits: Math.floor(expected + random.next()) };
    }),
  );
}

/** The decisions of that day's visitors and what became of them later, as far as the service had received it. */
export function recordsOf({ site, date, visits }: SiteDay, { until }: Period): Made[] {
  return Array.from({ length: visits }, (_, number) => visit(site, date, new Random(site.name, date, number)))
    .flat()
    .filter(({ receivedAt }) => Date.parse(receivedAt) <= until);
}

/** Around 1 over a year; it changes evenly from the middle of a month to the middle of the next. */
function seasonOf({ season }: Site, date: string): number {
  const [, month = 1, dayOfMonth = 1] = date.split('-').map(Number);
  const place = month + 11 + (dayOfMonth - 15) / 31;
  const at = (index: number) => season[index % 12] ?? 1;
  const before = Math.floor(place);
  const value = at(before) + (at(before + 1) - at(before)) * (place - before);
  return (value * 12) / season.reduce((sum, each) => sum + each, 0);
}

/** Around 1 over a week. */
const weekdayOf = ({ weekend }: Site, date: string): number =>
  ([0, 6].includes(new Date(startOf(date)).getUTCDay()) ? weekend : 1) / ((5 + 2 * weekend) / 7);

/** A visitor's first decision, and perhaps a later one. */
function visit(site: Site, date: string, random: Random): Made[] {
  const country = random.pick(site.countries);
  const localHour = Number(random.pick(hours));
  const utcHour = (localHour - countries[country].ahead + 24) % 24;
  const at = Math.floor(startOf(date) + (utcHour + random.next()) * hour);
  const bot = random.isTrue(0.008);
  // a new Chrome every four weeks
  const userAgent = bot
    ? crawler
    : random.pick(userAgents(131 + Math.floor((at - Date.UTC(2024, 10, 12)) / (28 * day))));
  const gpc = userAgent.includes('Firefox') && random.isTrue(0.3);
  const visitor = {
    visitorId: Buffer.from(random.bytes(16)).toString('hex'),
    language: countries[country].language,
    country,
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
    receivedAt: new Date(time + (random.isTrue(0.985) ? random.wait(160) : random.wait(9 * hour))).toISOString(),
    preferences: preferencesOf(site, decision, random),
    bannerVersion: bannerAt(time).version,
    policyVersion: new Date(time).toISOString().slice(0, 4),
    pageUrl: `https://${site.name}${random.pick(site.pages)}`,
  });
  if (bot) return [decide(at, 'accept_all', 'banner')];
  if (gpc) return [decide(at, 'reject_all', 'gpc')];
  const first = decide(at, random.pick(opinionOf(site, at)), 'banner');
  const hasGiven = first.decision !== 'reject_all';
  // some withdraw, half of them within minutes; others change their mind
  const later = timeOf(first.id) + minute + random.wait(random.isTrue(0.5) ? 5 * minute : 26 * day);
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
function bannerAt(time: number): { version: string; design: number } {
  const date = new Date(time);
  const design = Math.floor(date.getUTCMonth() / 4);
  return { version: `${date.getUTCFullYear() - 2023}.${design}.0`, design };
}

/** A redesign changes how many accept. */
function opinionOf({ name, decides }: Site, time: number): Site['decides'] {
  const shift = 14 * (new Random(name, bannerAt(time).version).next() - 0.5);
  return { ...decides, accept_all: decides.accept_all + shift, reject_all: decides.reject_all - shift };
}

/** A custom choice allows something and refuses something: all or nothing would be another decision. */
function preferencesOf({ categories }: Site, decision: Decision, random: Random): Record<string, boolean> {
  const allowed = random.pick(
    Object.fromEntries(categories.filter((name) => name !== 'marketing').map((name) => [name, 1])),
  );
  return Object.fromEntries(
    categories.map((name) => [name, decision === 'accept_all' || (decision === 'custom' && name === allowed)]),
  );
}
