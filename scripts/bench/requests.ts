/**
 * What the load generator sends: records as a shop's widget sends them, over all sites with Zipf shares and from 100,000
 * visitors, or reads of given paths. The text is made in advance with gaps, so that each request is new and cheap.
 */
import type { NewRecord } from '#libs/contract/record';
import { type Decision, decisions } from '#libs/contract/terms';
import { makeIdAt } from '#libs/contract/uuid';

export interface Site {
  organizationId: string;
  domainId: string;
  apiKey: string;
  /** whether the domain has a list of origins, with `pageOrigin` on it */
  listed: boolean;
}

export interface Records {
  sites: Site[];
  ids?: boolean;
  /** each visitor has an address, as a proxy in front would say */
  addresses?: boolean;
  origin?: string;
}

export interface Reads {
  paths: string[];
  token: string;
}

const userAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
export const pageOrigin = 'https://www.shop.example';
export const origins = ['https://shop.example', 'https://*.shop.example'];

const visitors = 100_000;
const visitorDigits = 6;
export const visitorNumber = (index: number): string => String((index * 7_919) % visitors).padStart(visitorDigits, '0');

/** All of the same width: each pair of the number's digits, plus 100, is one byte. */
export const addressOf = (visitor: string): string => visitor.replace(/(..)(..)(..)/, '10.1$1.1$2.1$3');

/** Of a hundred visitors. */
const shares: Record<Decision, number> = { accept_all: 50, reject_all: 32, custom: 14, withdraw: 4 };
const mixed = decisions.flatMap((decision) => Array<Decision>(shares[decision]).fill(decision));

export function makeBody(index: number, visitor: string) {
  const decision = mixed[(index * 37) % mixed.length] ?? 'custom';
  const allowed = decision === 'accept_all';
  return {
    decision,
    visitorId: `visitor-${visitor}`,
    preferences: { necessary: true, analytics: allowed, marketing: allowed || decision === 'custom' },
    bannerVersion: '2.4.1',
    policyVersion: '2026-09',
    pageUrl: `https://shop.example/products/${100 + (index % 500)}?utm_source=newsletter`,
  };
}

/** A record as the API queues it; `time` is in Unix milliseconds. */
export function makeRecord(sites: Site[], index: number, time: number): NewRecord {
  const { pageUrl, ...body } = makeBody(index, visitorNumber(index));
  const { domainId } = siteOf(sites, index);
  const received = { id: makeIdAt(Math.floor(time)), domainId, receivedAt: new Date(time).toISOString() };
  const seen = { source: 'banner', ip: '127.0.0.0', userAgent } as const;
  return { ...received, ...body, ...seen, pageUrl: pageUrl.slice(0, pageUrl.indexOf('?')) };
}

/** The site of the `index`th record: the n-th site gets a share of 1/n, evenly mixed. */
export function siteOf(sites: Site[], index: number): Site {
  const sum = sites.reduce((total, _, at) => total + 1 / (at + 1), 0);
  // multiples of the golden ratio fill the unit interval evenly, however many are taken
  let rest = ((index * 0.618_033_988_749_895) % 1) * sum;
  const found = sites.find((_, at) => {
    rest -= 1 / (at + 1);
    return rest < 0;
  });
  const site = found ?? sites.at(-1);
  if (!site) throw new Error('no sites');
  return site;
}

/** Gives the text of the `index`th request; `id` fills a record's id, where the load has ids. */
type MakeRequest = (index: number, id: string) => string;

export function requestMaker(baseUrl: string, send: Records | Reads): MakeRequest {
  const { host } = new URL(baseUrl);
  if ('sites' in send) return recordMaker(host, send);
  const rest = `HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${send.token}\r\n\r\n`;
  const requests = send.paths.map((path) => `GET ${path} ${rest}`);
  return (index) => requests[index % requests.length] ?? '';
}

/** Gaps are as wide as what fills them, so that every Content-Length is right. */
const visitorGap = '#'.repeat(visitorDigits);
const idGap = '@'.repeat(36);
const addressGap = '~'.repeat(addressOf(visitorNumber(0)).length);

function recordMaker(host: string, { sites, ids, addresses, origin }: Records): MakeRequest {
  const templates = Array.from({ length: 2_000 }, (_, index) => {
    const { domainId, apiKey } = siteOf(sites, index);
    const body = JSON.stringify({ ...(ids && { id: idGap }), ...makeBody(index, visitorGap) });
    const lines = [
      `POST /v1/consent/${domainId}/record HTTP/1.1`,
      `Host: ${host}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `User-Agent: ${userAgent}`,
      `x-api-key: ${apiKey}`,
      ...(origin ? [`Origin: ${origin}`] : []),
      ...(addresses ? [`X-Forwarded-For: ${addressGap}`] : []),
    ];
    return `${lines.join('\r\n')}\r\n\r\n${body}`.split(new RegExp(`${visitorGap}|${idGap}|${addressGap}`));
  });
  const numbers = Array.from({ length: visitors }, (_, index) => visitorNumber(index));
  return (index, id) => {
    const [head = '', ...parts] = templates[index % templates.length] ?? [];
    const visitor = numbers[index % visitors] ?? '';
    let text = head;
    if (addresses) text += addressOf(visitor) + parts.shift();
    if (ids) text += id + parts.shift();
    return text + visitor + parts[0];
  };
}
