/**
 * The one request shape of all measurements: what a shop's widget sends, 20 domains with Zipf shares, 100,000 visitors.
 * A template is a whole HTTP request with gaps of fixed width, so that every request is new and costs its sender little.
 */

export interface Site {
  organizationId: string;
  domainId: string;
  apiKey: string;
}

/** A real browser's: Chrome on Windows. */
export const userAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

export const visitors = 100_000;
export const visitorDigits = 6;

/** Of ten visitors five accept all, three refuse, one chooses, and now and then one withdraws. */
const shares = [
  ...Array<string>(50).fill('accept_all'),
  ...Array<string>(32).fill('reject_all'),
  ...Array<string>(14).fill('custom'),
  ...Array<string>(4).fill('withdraw'),
];

export interface Body {
  id?: string;
  decision: string;
  visitorId: string;
  preferences: Record<string, boolean>;
  bannerVersion: string;
  policyVersion: string;
  pageUrl: string;
}

/** `index` chooses everything but the visitor. */
export function makeBody(index: number, visitor: string, id?: string): Body {
  const decision = shares[(index * 37) % shares.length] ?? 'accept_all';
  const allowed = decision === 'accept_all';
  return {
    ...(id !== undefined && { id }),
    decision,
    visitorId: `visitor-${visitor}`,
    preferences: { necessary: true, analytics: allowed, marketing: allowed || decision === 'custom' },
    bannerVersion: '2.4.1',
    policyVersion: '2026-09',
    pageUrl: `https://shop.example/products/${100 + (index % 500)}?utm_source=newsletter`,
  };
}

export const visitorNumber = (index: number): string => String((index * 7_919) % visitors).padStart(visitorDigits, '0');

/** Each visitor has an address of its own, all of the same width: the number's pairs of digits are its bytes, plus 100. */
export const addressPattern = '10.1$1.1$2.1$3';
export const addressOf = (visitor: string): string => visitor.replace(/(..)(..)(..)/, addressPattern);

/** The origin of the shop's pages, and a list that has it. */
export const pageOrigin = 'https://www.shop.example';
export const origins = ['https://shop.example', 'https://*.shop.example'];

/** The site of the `index`th record: the n-th site gets a share of 1/n, evenly mixed. */
export function siteOf<Any>(sites: Any[], index: number): Any {
  const weights = sites.map((_, at) => 1 / (at + 1));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  // multiples of the golden ratio fill the unit interval evenly, however many are taken
  let rest = ((index * 0.618_033_988_749_895) % 1) * sum;
  const found = sites.find((_, at) => {
    rest -= weights[at] ?? 0;
    return rest < 0;
  });
  const site = found ?? sites.at(-1);
  if (site === undefined) throw new Error('no sites');
  return site;
}

/** As wide as what fills them. */
const visitorGap = '#'.repeat(visitorDigits);
const idGap = '@'.repeat(36);
const addressGap = '~'.repeat(addressOf(visitorNumber(0)).length);

export interface Parts {
  /** an id of the client's own */
  ids?: boolean;
  /** the visitor's address, as a proxy in front adds it */
  addresses?: boolean;
  /** of the page that sends */
  origin?: string | undefined;
}

/** The text of requests around their gaps: for the address and the id where they are wanted, and for the visitor. */
export function makeTemplates(sites: Site[], host: string, { ids, addresses, origin }: Parts): string[][] {
  return Array.from({ length: 2_000 }, (_, index) => {
    const { domainId, apiKey } = siteOf(sites, index);
    const body = JSON.stringify(makeBody(index, visitorGap, ids ? idGap : undefined));
    const lines = [
      `POST /v1/consent/${domainId}/record HTTP/1.1`,
      `Host: ${host}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `User-Agent: ${userAgent}`,
      `x-api-key: ${apiKey}`,
      ...(addresses ? [`X-Forwarded-For: ${addressGap}`] : []),
      ...(origin ? [`Origin: ${origin}`] : []),
    ];
    return `${lines.join('\r\n')}\r\n\r\n${body}`.split(new RegExp(`${visitorGap}|${idGap}|${addressGap}`));
  });
}
