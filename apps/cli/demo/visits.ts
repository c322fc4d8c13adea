/**
 * What the visitors of the demo's sites decided. A visit depends on the seed, its site, its day and its number in that
 * day, and on nothing else: not on the clock, nor on how many others there are. So running it again makes the same ids,
 * asking for more adds to what is there, and on another day the days since are added.
 */
import { v7 } from 'uuid';
import { addDays, daysBetween, startOf } from '#libs/contract/calendar';
import type { NewRecord } from '#libs/contract/record';
import type { Decision } from '#libs/contract/terms';
import { timeOf } from '#libs/contract/uuid';
import { crawlers, type Device, pickDevice, sendsGpc, userAgentOf } from './browsers.ts';
import { type Random, randomOf } from './random.ts';
import { type Country, countries, rhythms, type Site, sites } from './sites.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
/** days in a month, on average */
const monthLength = 365.25 / 12;
/** records that a visit leads to, on average: some come back and decide anew */
const recordsPerVisit = 1.08;

export interface Period {
  seed: string;
  /** about how many records in all of `months` */
  records: number;
  months: number;
  /** Unix milliseconds; nothing is later */
  until: number;
}

/** A record that does not know its domain's id yet. */
export type Made = Omit<NewRecord, 'domainId'>;

/** The visits of one site on one UTC day. */
export interface SiteDay {
  site: Site;
  /** `YYYY-MM-DD` */
  date: string;
  visits: number;
}

/** Oldest first. */
export function planDays({ seed, records, months, until }: Period): SiteDay[] {
  const last = new Date(until).toISOString().slice(0, 10);
  const length = Math.round(months * monthLength);
  const daily = records / (months * monthLength) / recordsPerVisit;
  return daysBetween(addDays(last, 1 - length), last).flatMap((date) =>
    sites.map((site) => {
      const random = randomOf(seed, site.name, date);
      // some days go better than others, for no reason that one could see
      const luck = 0.86 + 0.28 * random.next();
      const expected = daily * (site.share / 100) * seasonOf(site, date) * weekdayOf(site, date) * luck;
      return { site, date, visits: Math.floor(expected + random.next()) };
    }),
  );
}

/** The decisions of all visits of that day and what became of them later, as far as the service had it by `until`. */
export function recordsOf({ site, date, visits }: SiteDay, { seed, until }: Period): Made[] {
  return Array.from({ length: visits }, (_, number) => visit(site, date, randomOf(seed, site.name, date, number)))
    .flat()
    .filter(({ receivedAt }) => Date.parse(receivedAt) <= until);
}

const toTimestamp = (time: number): string => new Date(time).toISOString();

/** Around 1 over a year; between the middles of two months it changes evenly. */
function seasonOf({ season, isShop }: Site, date: string): number {
  const average = season.reduce((sum, each) => sum + each, 0) / season.length;
  const [, month = 1, dayOfMonth = 1] = date.split('-').map(Number);
  const place = month - 1 + (dayOfMonth - 15) / 31;
  const at = (index: number) => season[(index + season.length) % season.length] ?? average;
  const before = Math.floor(place);
  const value = at(before) + (at(before + 1) - at(before)) * (place - before);
  return (value / average) * (isShop ? festivityOf(month, dayOfMonth) : 1);
}

/** Sales at the end of November, and three days on which hardly anybody buys. */
function festivityOf(month: number, dayOfMonth: number): number {
  if (month === 11 && dayOfMonth >= 24) return 1.5;
  if (month === 12 && dayOfMonth >= 24 && dayOfMonth <= 26) return 0.45;
  if (month === 1 && dayOfMonth === 1) return 0.55;
  return 1;
}

const weekdayOf = ({ rhythm }: Site, date: string): number =>
  rhythms[rhythm].week[new Date(startOf(date)).getUTCDay()] ?? 1;

interface Visitor {
  site: Site;
  random: Random;
  country: Country;
  device: Device;
  language: string;
  visitorId: string;
  ip: string;
  gpc: boolean;
}

/** The first decision of a visitor, and those after it. */
function visit(site: Site, date: string, random: Random): Made[] {
  const country = random.pick<Country>(site.markets);
  const at = momentOf(site, date, country, random);
  if (random.isTrue(0.008)) return [crawl(site, at, random)];
  const visitor = meet(site, country, random);
  const byServer = random.isTrue(site.byServer ?? 0);
  const refusesItself = visitor.gpc && site.obeysGpc === true;
  const decision = visitor.gpc && random.isTrue(0.85) ? 'reject_all' : random.pick(opinionOf(site, at));
  const source = byServer ? 'api' : refusesItself && decision === 'reject_all' ? 'gpc' : 'banner';
  const first = decide(visitor, at, decision, source);
  return [first, ...comeBack(visitor, first)];
}

/** A moment of that UTC day, by the clocks of the visitor's country. */
function momentOf({ rhythm }: Site, date: string, country: Country, random: Random): number {
  const weights = Object.fromEntries(rhythms[rhythm].hours.map((weight, local) => [local, weight]));
  const local = Number(random.pick(weights));
  const utc = (local - countries[country].ahead + 24) % 24;
  return startOf(date) + utc * hour + Math.floor(random.next() * hour);
}

function meet(site: Site, country: Country, random: Random): Visitor {
  const device = pickDevice(random, site.rhythm === 'office');
  const isAmerican = country === 'US' || country === 'CA';
  return {
    site,
    random,
    country,
    device,
    language: random.pick(countries[country].languages),
    visitorId: Buffer.from(random.bytes(16)).toString('hex'),
    ip: addressOf(random),
    gpc: sendsGpc(device) && random.isTrue(isAmerican ? 0.45 : 0.16),
  };
}

/** From what is reserved for benchmarks and documentation (RFC 2544, RFC 3849), so that it is nobody's; shortened as the API does. */
function addressOf(random: Random): string {
  const [one = 0, two = 0, three = 0] = random.bytes(3);
  if (random.isTrue(0.72)) return `198.${18 + (one & 1)}.${two}.0`;
  return `2001:db8:${((two << 8) | three || 1).toString(16)}::`;
}

/** Every four months a banner is made anew, and people decide a little differently; over the years their mood sways. */
const bannerPeriod = 4;
const bannerNumber = (at: number): number => {
  const time = new Date(at);
  return Math.floor((time.getUTCFullYear() * 12 + time.getUTCMonth()) / bannerPeriod);
};

function bannerOf(at: number): string {
  const number = bannerNumber(at);
  const perYear = 12 / bannerPeriod;
  return `${Math.floor(number / perYear) - 2023}.${number % perYear}.0`;
}

function opinionOf(site: Site, at: number): Record<Exclude<Decision, 'withdraw'>, number> {
  const { next } = randomOf(site.name, 'banner', bannerNumber(at));
  const mood = Math.sin((2 * Math.PI * at) / (500 * day) + site.name.length);
  const shift = 12 * (next() - 0.5) + 5 * mood;
  const { accept_all, reject_all, custom } = site.decides;
  return { accept_all: accept_all + shift, reject_all: reject_all - shift, custom: custom + 4 * (next() - 0.5) };
}

/** `2026-03`: when the policy that is in force at `at` was last changed. */
function policyOf({ policyMonths }: Site, at: number): string {
  const time = new Date(at);
  const year = time.getUTCFullYear();
  const month = policyMonths.findLast((each) => each <= time.getUTCMonth() + 1);
  const [changed, of] = month === undefined ? [policyMonths.at(-1) ?? 1, year - 1] : [month, year];
  return `${of}-${String(changed).padStart(2, '0')}`;
}

/** Some take it back, some change their mind, and some come back under another policy and are asked again. */
function comeBack(visitor: Visitor, first: Made): Made[] {
  const { random, site } = visitor;
  const { decision, source, preferences = {} } = first;
  const decidedAt = timeOf(first.id);
  if (source === 'api') return [];
  const hasGiven = Object.values(preferences).includes(true);
  if (hasGiven && random.isTrue(site.withdraws)) {
    // some think better of it at once, others weeks later
    const later = random.isTrue(0.3) ? 10 * second + random.wait(6 * minute) : hour + random.wait(26 * day);
    return [decide(visitor, decidedAt + later, 'withdraw', 'preferences')];
  }
  if (random.isTrue(0.02)) {
    const change = hasGiven && decision === 'accept_all' ? 'custom' : 'accept_all';
    return [decide(visitor, decidedAt + minute + random.wait(9 * day), change, 'preferences')];
  }
  const again = decidedAt + 20 * day + random.wait(45 * day);
  if (random.isTrue(0.05) && policyOf(site, again) !== first.policyVersion) {
    const keeps = random.isTrue(0.8) || (hasGiven && decision === 'custom');
    return [decide(visitor, again, keeps ? decision : hasGiven ? 'custom' : 'accept_all', 'banner')];
  }
  return [];
}

function decide(visitor: Visitor, moment: number, decision: Decision, source: NewRecord['source']): Made {
  const { site, random, visitorId, country, ip, gpc, device } = visitor;
  const at = Math.floor(moment);
  const byServer = source === 'api';
  return {
    id: v7({ msecs: at, random: random.bytes(16) }),
    decision,
    receivedAt: toTimestamp(at + delay(random)),
    source,
    visitorId,
    preferences: preferencesOf(site, decision, random),
    policyVersion: policyOf(site, at),
    language: visitor.language,
    country,
    ip,
    userAgent: userAgentOf(device, at),
    metadata: { demo: true },
    ...(!byServer && { bannerVersion: bannerOf(at), pageUrl: `https://${site.name}${random.one(site.pages)}` }),
    ...(gpc && { gpc }),
  };
}

/** Milliseconds until the service had it: a moment, or as long as the visitor was offline. */
const delay = (random: Random): number =>
  Math.floor(random.isTrue(0.985) ? 40 + random.wait(120) : minute + random.wait(9 * hour));

function preferencesOf({ categories }: Site, decision: Decision, random: Random): Record<string, boolean> {
  if (decision !== 'custom') return Object.fromEntries(categories.map((name) => [name, decision === 'accept_all']));
  // most allow what sounds harmless, and nobody all or nothing: that would be another decision
  const chosen = categories.map((name) => [name, random.isTrue(name === 'marketing' ? 0.12 : 0.6)] as const);
  const differ = chosen.some(([, allowed]) => allowed) && chosen.some(([, allowed]) => !allowed);
  return Object.fromEntries(
    differ ? chosen : categories.map((name) => [name, name !== 'marketing' && name !== 'social']),
  );
}

/** A crawler that presses buttons: counted, and marked. */
function crawl(site: Site, at: number, random: Random): Made {
  return {
    id: v7({ msecs: at, random: random.bytes(16) }),
    decision: 'accept_all',
    receivedAt: toTimestamp(at + delay(random)),
    source: 'banner',
    visitorId: Buffer.from(random.bytes(16)).toString('hex'),
    preferences: preferencesOf(site, 'accept_all', random),
    bannerVersion: bannerOf(at),
    policyVersion: policyOf(site, at),
    language: 'en-US',
    pageUrl: `https://${site.name}${random.one(site.pages)}`,
    country: 'US',
    ip: addressOf(random),
    userAgent: random.one(crawlers),
    metadata: { demo: true },
    bot: true,
  };
}
