/** The made-up sites and their visitors. All names are reserved for examples. */

export interface Site {
  /** the domain's name, and the host of its pages */
  name: string;
  /** percent of all visits */
  share: number;
  /** how many times as many visits a year later */
  growth: number;
  /** percent; the others choose for themselves */
  accept: number;
  reject: number;
  /** of browsers, with the visitor's country */
  languages: Record<string, number>;
  /** visits on a Saturday or Sunday; a weekday has 1 */
  weekend?: number;
}

/** The first is the domain that npm start has made for the demo shop. */
export const sites: readonly Site[] = [
  { name: 'demo.example', share: 17, growth: 1.3, accept: 52, reject: 31, languages: { 'en-GB': 6, 'en-US': 3 } },
  { name: 'nordlicht.example', share: 40, growth: 1.2, accept: 58, reject: 30, languages: { 'de-DE': 7, 'de-AT': 2 } },
  { name: 'lumiere.example', share: 24, growth: 1, accept: 49, reject: 38, languages: { 'fr-FR': 9, 'de-DE': 1 } },
  { name: 'tagblatt.example', share: 16, growth: 0.8, accept: 38, reject: 49, languages: { 'de-DE': 8, 'de-AT': 1 } },
  { name: 'ledger.example', share: 3, growth: 2, accept: 41, reject: 33, languages: { 'en-US': 7 }, weekend: 0.2 },
];

/** Visits by UTC hour, and from January to December: around 1. */
export const hours = [2, 1, 0.6, 0.4, 0.4, 0.8, 2, 5, 7, 8, 8, 8, 9, 8, 7, 7, 8, 9, 10, 12, 13, 12, 9, 5];
export const season = [1.2, 0.95, 0.95, 0.95, 0.95, 0.85, 0.85, 0.85, 1, 1, 1.15, 1.3];

export const categories = ['functional', 'analytics', 'marketing'];
/** path → how often */
export const pages = { '/': 5, '/sale': 3, '/products/4711': 2, '/journal': 1 };

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

export const userAgents = {
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/141.0.0.0 Safari/537.36`]: 36,
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0': 9,
  [`Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/141.0.0.0 Mobile Safari/537.36`]: 27,
  [`${iphone} Version/18.6 Mobile/15E148 Safari/604.1`]: 28,
};

/** The API marks it as `bot`. */
export const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
