/**
 * The decisions of visitors of the demo's sites. They only depend on site, day and number, so a second run repeats them.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { v7 } from 'uuid';
import { addDays, dayOf, daysBetween, startOf } from '#libs/base/terms/calendar';
import type { Decision } from '#libs/base/terms/terms';
import { type Notice, readNotice } from '#libs/notices/contract';
import type { NewRecord } from '#libs/record/contract';
import { languages } from '#libs/widget/languages';
import { phrases } from '#libs/widget/texts';
import { root } from '../stack/paths.ts';

const hour = 3_600_000;
const daysOfMonth = 365.25 / 12;
/** bytes of a visitor's hash that are the id; the others are random numbers */
const idBytes = 16;
/** on average, since some visitors decide again */
const recordsPerVisit = 1.04;

export interface Period {
  /** approximate number of records in all `months` */
  records: number;
  months: number;
  /** Unix milliseconds; the latest time of a record */
  until: number;
}

/** A record before its domain's id is known. */
export type Made = Omit<NewRecord, 'domainId'>;

/** The visits to one site on one UTC day. */
interface SiteDay {
  site: Site;
  /** `YYYY-MM-DD` */
  date: string;
  visits: number;
}

/** Oldest first. Some days have more visits than others. */
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

/** The decisions of that day's visitors and their later ones, as far as the service had received them by then. */
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
  const country = more() < 0.91 ? language.slice(3) : (abroad[Math.floor(more() * abroad.length)] ?? '');
  const variant = 'better' in site ? variantOf(more()) : undefined;
  const leaning = 'better' in site && variant?.endsWith('short') ? site.better : 0;
  const gpc = userAgent.includes('Firefox') && random() < 0.3;
  const visitor = {
    visitorId: identity.toString('hex', 0, idBytes),
    language,
    country,
    // from a range reserved for benchmarks (RFC 2544), truncated as the API does
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
  // some withdraw or change their mind: most of them soon, a few after weeks
  const later = at + 60_000 + Math.floor(random() ** 8 * 30 * 24 * hour);
  const hasGiven = chosen !== 'reject_all';
  if (hasGiven && random() < 0.04) return [first, decide(later, 'withdraw', 'preferences')];
  if (random() < 0.02) return [first, decide(later, hasGiven ? 'custom' : 'accept_all', 'preferences')];
  return [first];
}

/** A custom choice allows one category and refuses others: otherwise it would be another decision. */
function preferencesOf(decision: Decision, chosen: string): Record<string, boolean> {
  const allows = (name: string) => decision === 'accept_all' || (decision === 'custom' && name === chosen);
  return Object.fromEntries(categories.map((name) => [name, allows(name)]));
}

/** The variant of the site's A/B test. `chance`: from 0 to less than 1 */
export const variantOf = (chance: number): string => `wording:${chance < 0.5 ? 'short' : 'plain'}`;

/** The banner changes each September, so a year always has two of them. */
function bannerOf(date: string): string {
  const [year, month] = [Number(date.slice(0, 4)), Number(date.slice(5, 7))];
  return `${month < 9 ? year - 1 : year}-09`;
}

type Words = (string | number)[];

/** Equal words give equal bytes on every machine. */
export const bytesOf = (...words: Words): Buffer => createHash('sha512').update(words.join('\n')).digest();

/** Returns random numbers from 0 to less than 1, up to 16 of them. */
export const randomOf = (...words: Words): (() => number) => numbersIn(bytesOf(...words));

function numbersIn(bytes: Buffer, at = 0): () => number {
  let next = at;
  return () => {
    next += 4;
    return bytes.readUInt32LE(next - 4) / 2 ** 32;
  };
}

type Shown = Pick<Made, 'language' | 'variant' | 'bannerVersion' | 'policyVersion' | 'source' | 'pageUrl'>;

/** A few hundred different notices for all records. */
const made = new Map<string, Notice>();

export function noticeOf({ language = 'en', variant, bannerVersion, policyVersion, source, pageUrl }: Shown): Notice {
  const policy = new URL('/privacy', pageUrl).href;
  const key = [language, variant, bannerVersion, policyVersion, source, policy].join('\n');
  const known = made.get(key);
  if (known) return known;
  const texts = textsIn(languages.find((each) => each === language.slice(0, 2)) ?? 'en');
  const text = (name: keyof typeof phrases) => texts[name];
  const intro = text('intro');
  const isLater = source === 'preferences';
  const document = {
    title: text('title'),
    // the shorter wording of the experiment is the first sentence
    intro: variant?.endsWith('short') ? (/^[^.:]+[.:]/.exec(intro)?.[0] ?? intro) : intro,
    note: source === 'gpc' ? text('gpc') : undefined,
    links: [{ label: text('policy'), href: policy }],
    asks: `${text('asks')} ${categories.map(text).join(' · ')}`,
    buttons: [text('accept'), text('reject'), text('customise')],
    settings: {
      title: text('settings'),
      categories: (['necessary', ...categories] as const).map((id) => ({
        label: text(id),
        description: text(`${id}Purpose`),
        always: id === 'necessary' ? text('always') : undefined,
        id,
      })),
      buttons: [text('accept'), text(isLater ? 'withdraw' : 'reject'), text('save')],
    },
    language,
    version: bannerVersion,
    policyVersion,
    variant,
  };
  const notice = readNotice(Buffer.from(JSON.stringify(document)));
  if ('refused' in notice) throw new Error(`a notice of the demo ${notice.refused}`);
  made.set(key, notice);
  return notice;
}

function textsIn(language: string): typeof phrases {
  if (language === 'en') return phrases;
  return { ...phrases, ...JSON.parse(readFileSync(`${root}/libs/widget/languages/${language}.json`, 'utf8')) };
}

type Site = (typeof sites)[number];

const german = ['de-DE', 'de-DE', 'de-DE', 'de-AT'];

/**
 * `share`: percent of all visits; they add up to 100. `accept`, `reject`: percent of the visitors; the others make a custom
 * choice. `languages`: of browsers, with the country of most of their visitors. `better`: how many percent more accept the
 * shorter text in the site's experiment; without it there is none. The first site is the domain of the demo shop.
 */
export const sites = [
  { name: 'demo.example', share: 17, accept: 52, reject: 31, languages: ['en-GB', 'en-GB', 'en-US'], better: 1 },
  { name: 'nordlicht.example', share: 40, accept: 58, reject: 30, languages: german, better: 7 },
  { name: 'lumiere.example', share: 24, accept: 49, reject: 38, languages: ['fr-FR', 'fr-FR', 'fr-FR', 'de-DE'] },
  { name: 'tagblatt.example', share: 16, accept: 38, reject: 49, languages: german },
  { name: 'ledger.example', share: 3, accept: 41, reject: 33, languages: ['en-US'] },
];

/** Relative number of visits in each UTC hour. */
const visitsByHour = [2, 1, 1, 1, 1, 1, 2, 5, 7, 8, 8, 8, 9, 8, 7, 7, 8, 9, 10, 12, 13, 12, 9, 5];
const hours = visitsByHour.flatMap((visits, hour) => Array<number>(visits).fill(hour));

/** The countries of the few visitors whose country does not match their language. */
const abroad = ['NL', 'NL', 'CH', 'CH', 'CH', 'BE', 'BE', 'IT', 'ES', 'PL', 'SE', 'DK', 'IE', 'CA'];

const categories = ['functional', 'analytics', 'marketing'] as const;
const pages = ['/', '/', '/', '/sale', '/sale', '/products/4711', '/journal'];

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const chrome = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/141.0.0.0 Safari/537.36`;
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0';
const android = `Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/141.0.0.0 Mobile Safari/537.36`;
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1';
const tablet = `Mozilla/5.0 (Linux; Android 14; SM-X710) ${webkit} Chrome/141.0.0.0 Safari/537.36`;
const desktops = [chrome, chrome, chrome, chrome, firefox];
const userAgents = [...desktops, android, android, android, iphone, iphone, iphone, tablet];

/** The API marks it as `bot`. */
const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
