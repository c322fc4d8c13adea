/**
 * What the visitors of the demo's sites decided. A visit depends on its site, its day and its number on that day, and on
 * nothing else: running the demo again makes the same ids, asking for more adds to what is there, and on a later day
 * only the days since are new.
 */
import { v7 } from 'uuid';
import { addDays, dayOf, daysBetween, startOf } from '#libs/base/terms/calendar';
import type { Decision } from '#libs/base/terms/terms';
import type { NewRecord } from '#libs/record/contract';
import { bytesOf, numbersIn, randomOf } from './chance.ts';
import { abroad, categories, crawler, hours, pages, type Site, sites, userAgents } from './sites.ts';

const hour = 3_600_000;
const daysOfMonth = 365.25 / 12;
/** of a visitor's hash: what follows them is chance */
const idBytes = 16;
/** on average: some visitors decide again */
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
interface SiteDay {
  site: Site;
  /** `YYYY-MM-DD` */
  date: string;
  visits: number;
}

/** Oldest first. Some days go better than others. */
export function planDays({ records, months, until }: Period): SiteDay[] {
  const last = dayOf(until);
  const length = Math.round(months * daysOfMonth);
  return daysBetween(addDays(last, 1 - length), last).flatMap((date) =>
    sites.map((site) => {
      const random = randomOf(site.name, date);
      const daily = (records / length / recordsPerVisit) * (site.share / 100);
      return { site, date, visits: Math.floor(daily * (0.75 + random() / 2) + random()) };
    }),
  );
}

/** The decisions of that day's visitors and what became of them later, as far as the service had received it. */
export function recordsOf({ site, date, visits }: SiteDay, { until }: Period): Made[] {
  return Array.from({ length: visits }, (_, number) => visit(site, date, number))
    .flat()
    .filter(({ receivedAt }) => Date.parse(receivedAt) <= until);
}

/** A visitor's first decision, and perhaps a later one. */
function visit(site: Site, date: string, number: number): Made[] {
  const { name, languages, accept, reject } = site;
  const random = randomOf(name, date, number);
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const language = oneOf(languages);
  const at = startOf(date) + Math.floor((oneOf(hours) + random()) * hour);
  const bot = random() < 0.008;
  const userAgent = bot ? crawler : oneOf(userAgents);
  const identity = bytesOf('visitor', name, date, number);
  const more = numbersIn(identity, idBytes);
  const { country, variant, leaning } = circumstancesOf(site, date, language, userAgent, more);
  const gpc = userAgent.includes('Firefox') && random() < 0.3;
  const visitor = {
    visitorId: identity.toString('hex', 0, idBytes),
    language,
    country,
    // of a range reserved for benchmarks (RFC 2544), shortened as the API does
    ip: `198.18.${Math.floor(random() * 256)}.0`,
    userAgent,
    metadata: { demo: true },
    ...(gpc && { gpc }),
    ...(bot && { bot }),
  };

  const decide = (time: number, decision: Decision, source: NewRecord['source']): Made => ({
    ...visitor,
    id: v7({ msecs: time, random: bytesOf('id', visitor.visitorId, time) }),
    decision,
    source,
    receivedAt: new Date(time + 160).toISOString(),
    preferences: preferencesOf(decision, oneOf(['functional', 'analytics'])),
    bannerVersion: bannerOf(dayOf(time)),
    policyVersion: dayOf(time).slice(0, 4),
    pageUrl: `https://${name}${oneOf(pages)}`,
  });
  if (bot) return [decide(at, 'accept_all', 'banner')];
  if (gpc) return [decide(at, 'reject_all', 'gpc')];
  const opinion = 100 * random();
  const chosen = opinion < accept + leaning ? 'accept_all' : opinion < accept + reject ? 'reject_all' : 'custom';
  const first = { ...decide(at, chosen, 'banner'), ...(variant && { variant }) };
  // some withdraw, others change their mind: most of them soon, a few after weeks
  const later = at + 60_000 + Math.floor(random() ** 8 * 30 * 24 * hour);
  const hasGiven = chosen !== 'reject_all';
  if (hasGiven && random() < 0.04) return [first, decide(later, 'withdraw', 'preferences')];
  if (random() < 0.02) return [first, decide(later, hasGiven ? 'custom' : 'accept_all', 'preferences')];
  return [first];
}

/** A custom choice allows one category and refuses others: all or nothing would be another decision. */
function preferencesOf(decision: Decision, chosen: string): Record<string, boolean> {
  const allows = (name: string) => decision === 'accept_all' || (decision === 'custom' && name === chosen);
  return Object.fromEntries(categories.map((name) => [name, allows(name)]));
}

/**
 * Where a visitor is, and which banner they see; both tell in the statistics. `leaning`: how many percent more of the
 * visitors accept, and fewer reject. `random`: three numbers from 0 to less than 1.
 */
function circumstancesOf(site: Site, date: string, language: string, userAgent: string, random: () => number) {
  const country = random() < 0.91 ? language.slice(3) : (abroad[Math.floor(random() * abroad.length)] ?? '');
  const leaning = leaningOfDevice(userAgent) + leaningOfBanner(date);
  if (!('better' in site)) return { country, leaning };
  const variant = variantOf(date, random());
  return { country, variant, leaning: leaning + (variant.endsWith('short') ? site.better : 0) };
}

/** Of the A/B test of that quarter. `chance`: from 0 to less than 1 */
export const variantOf = (date: string, chance: number): string =>
  `wording-${quarterOf(date)}:${chance < 0.5 ? 'short' : 'plain'}`;

/** The banner is redesigned each September: a year always has two of them. */
function bannerOf(date: string): string {
  const [year, month] = [Number(date.slice(0, 4)), Number(date.slice(5, 7))];
  return `${month < 9 ? year - 1 : year}-09`;
}

/** Beside each visitor who answers, how many leave the banner as it is. */
export const unansweredFor = (date: string): number => (isReadable(date) ? 0.5 : 0.8);

/** Every other banner is easier to read. */
const isReadable = (date: string): boolean => Number(bannerOf(date).slice(0, 4)) % 2 === 0;
const leaningOfBanner = (date: string): number => (isReadable(date) ? 8 : 0);
const leaningOfDevice = (userAgent: string): number => (/Mobile|Android/.test(userAgent) ? 3 : -3);
const quarterOf = (date: string): string => `${date.slice(0, 4)}-q${Math.ceil(Number(date.slice(5, 7)) / 3)}`;
