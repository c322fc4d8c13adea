/** What the load generator sends: records as a shop's widget sends them, or reads; texts are made in advance. */

import { hash } from 'node:crypto';
import { chunksOf } from '#libs/base/group-by';
import { makeIdAt } from '#libs/base/terms/calendar';
import { type Decision, decisions } from '#libs/base/terms/terms';
import type { NewRecord } from '#libs/record/contract';
import type { Site } from '../stack/sites.ts';

export interface Records {
  sites: Site[];
}

export interface Reads {
  paths: string[];
  /** undefined: of files, which are asked for as browsers do */
  token?: string;
}

/** What visitors allow now: of those whose ids are the hashes of the prefix and a number below `visitors`. */
export interface LookUps {
  token: string;
  path: string;
  prefix: string;
  visitors: number;
  /** in one request */
  atOnce: number;
}

const visitors = 100_000;
/** enough that the rarest user agents are among them, and a divisor of `visitors`: a visitor keeps to one browser */
const templateCount = 20_000;
/** A visitor's id has 32 hexadecimal digits, as the widget makes them; the last six are the visitor's number. */
const visitorPrefix = '5f0c9a3e71b84d26ae93d7f018';
const visitorDigits = 6;
const visitorNumber = (index: number): string => String((index * 7_919) % visitors).padStart(visitorDigits, '0');

const desktops = ['Windows NT 10.0; Win64; x64', 'Macintosh; Intel Mac OS X 10_15_7', 'X11; Linux x86_64'];
const phones = ['10; K', '14; SM-A546B', '13; SM-G991B', '15; Pixel 8', '14; SM-X710'].map(
  (model) => `Linux; Android ${model}`,
);
const brands = ['', ' Edg', ' OPR', ' Vivaldi', ' YaBrowser'];
const userAgentsOf = (version: number) =>
  [...desktops, ...phones].flatMap((system) =>
    brands.map((brand) => {
      const safari = phones.includes(system) ? 'Mobile Safari' : 'Safari';
      const chrome = `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0`;
      return `${chrome} ${safari}/537.36${brand && `${brand}/${version}.0.0.0`}`;
    }),
  );
/** As browsers send them: 40 of each of the last 50 versions, the newest first. */
const userAgents = Array.from({ length: 50 }, (_, back) => userAgentsOf(144 - back)).flat();

/** Of a hundred visitors. */
const shares: Record<Decision, number> = { accept_all: 50, reject_all: 32, custom: 14, withdraw: 4 };
const mixed = decisions.flatMap((decision) => Array<Decision>(shares[decision]).fill(decision));

function makeBody(index: number, visitor: string) {
  const decision = mixed[(index * 37) % mixed.length] ?? 'custom';
  const allowed = decision === 'accept_all';
  return {
    decision,
    visitorId: visitorPrefix + visitor,
    preferences: { necessary: true, analytics: allowed, marketing: allowed || decision === 'custom' },
    bannerVersion: '2.4.1',
    policyVersion: '2026-09',
    pageUrl: `https://shop.example/products/${100 + (index % 500)}?utm_source=newsletter`,
  };
}

/** A record as the API queues it; `time` is in Unix milliseconds. */
export function makeRecord(domainIds: string[], index: number, time: number): NewRecord {
  const { pageUrl, ...body } = makeBody(index, visitorNumber(index));
  const received = {
    id: makeIdAt(Math.floor(time)),
    domainId: siteOf(domainIds, index),
    receivedAt: new Date(time).toISOString(),
  };
  const seen = { source: 'banner', ip: '127.0.0.0', userAgent: userAgentOf(index) } as const;
  return { ...received, ...body, ...seen, pageUrl: pageUrl.slice(0, pageUrl.indexOf('?')) };
}

/** The site, or its domain's id, of the `index`th record. */
const siteOf = <S>(sites: S[], index: number): S => choose(sites, index * 0.618_033_988_749_895);

const userAgentOf = (index: number): string => choose(userAgents, (index % templateCount) * Math.SQRT2);

/** By Zipf's law: the n-th gets a share of 1/n. Multiples of an irrational number as `place` mix them evenly. */
function choose<One>(all: One[], place: number): One {
  const rank = Math.floor((all.length + 1) ** (place % 1));
  const one = all[rank - 1];
  if (one === undefined) throw new Error('there is nothing to choose from');
  return one;
}

/** Gives the text of the `index`th request. */
type MakeRequest = (index: number) => string;

export function requestMaker(baseUrl: string, send: Records | Reads | LookUps): MakeRequest {
  const { host } = new URL(baseUrl);
  if ('sites' in send) return recordMaker(host, send);
  const { token } = send;
  const how = token === undefined ? 'Accept-Encoding: gzip, deflate, br, zstd' : `Authorization: Bearer ${token}`;
  const rest = `HTTP/1.1\r\nHost: ${host}\r\n${how}\r\n\r\n`;
  const requests = 'visitors' in send ? lookUps(send, rest) : send.paths.map((path) => `GET ${path} ${rest}`);
  return (index) => requests[index % requests.length] ?? '';
}

/** As many of all visitors as a process remembers. */
const sample = 20_000;

export const visitorIdOf = (prefix: string, number: number): string => hash('md5', `${prefix}${number}`);

function lookUps({ path, visitors, prefix, atOnce }: LookUps, rest: string): string[] {
  const ids = Array.from({ length: sample }, () => visitorIdOf(prefix, Math.floor(Math.random() * visitors)));
  if (atOnce === 1) return ids.map((id) => `GET ${path}/${id} ${rest}`);
  return chunksOf(ids, atOnce).map((visitorIds) => {
    const body = JSON.stringify({ visitorIds });
    const headers = `\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    return `POST ${path} ${rest.replace('\r\n\r\n', headers)}`;
  });
}

/** As wide as what fills it, so that every Content-Length is right. */
const visitorGap = '#'.repeat(visitorDigits);

function recordMaker(host: string, { sites }: Records): MakeRequest {
  const templates = Array.from({ length: templateCount }, (_, index) => {
    const { domainId, apiKey } = siteOf(sites, index);
    const body = JSON.stringify(makeBody(index, visitorGap));
    const lines = [
      `POST /v1/consent/${domainId}/record HTTP/1.1`,
      `Host: ${host}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `User-Agent: ${userAgentOf(index)}`,
      `x-api-key: ${apiKey}`,
    ];
    return `${lines.join('\r\n')}\r\n\r\n${body}`.split(visitorGap);
  });
  const numbers = Array.from({ length: visitors }, (_, index) => visitorNumber(index));
  return (index) => {
    const [head = '', tail = ''] = templates[index % templates.length] ?? [];
    return head + numbers[index % visitors] + tail;
  };
}
