/** The made-up sites and their visitors. All names are reserved for examples. */

export interface Site {
  /** the domain's name, and the host of its pages */
  name: string;
  /** percent of all visits */
  share: number;
  /** how many times as many visits a year later */
  growth: number;
  /** visits on a Saturday or Sunday; a weekday has 1 */
  weekend: number;
  countries: Partial<Record<keyof typeof countries, number>>;
  /** percent; the others choose for themselves */
  accept: number;
  reject: number;
}

/** The first is the domain that npm start has made for the demo shop. */
export const sites: readonly Site[] = [
  { name: 'demo.example', share: 17, growth: 1.3, weekend: 1.1, countries: { GB: 6, US: 3 }, accept: 52, reject: 31 },
  {
    name: 'nordlicht.example',
    share: 40,
    growth: 1.2,
    weekend: 1.1,
    countries: { DE: 7, AT: 2 },
    accept: 58,
    reject: 30,
  },
  { name: 'lumiere.example', share: 24, growth: 1, weekend: 1.2, countries: { FR: 9, DE: 1 }, accept: 49, reject: 38 },
  {
    name: 'tagblatt.example',
    share: 16,
    growth: 0.8,
    weekend: 0.9,
    countries: { DE: 8, AT: 1 },
    accept: 38,
    reject: 49,
  },
  { name: 'ledger.example', share: 3, growth: 2, weekend: 0.2, countries: { US: 7, GB: 3 }, accept: 41, reject: 33 },
];

/** Hours ahead of UTC, and the language of the browser. */
export const countries = {
  AT: { ahead: 1, language: 'de-AT' },
  DE: { ahead: 1, language: 'de-DE' },
  FR: { ahead: 1, language: 'fr-FR' },
  GB: { ahead: 0, language: 'en-GB' },
  US: { ahead: -6, language: 'en-US' },
};

/** Visits by local hour, and from January to December. */
export const hours = [2, 1, 0.6, 0.4, 0.4, 0.8, 2, 5, 7, 8, 8, 8, 9, 8, 7, 7, 8, 9, 10, 12, 13, 12, 9, 5];
export const season = [10, 8, 8, 8, 8, 7, 7, 7, 9, 9, 12, 14];

export const categories = ['functional', 'analytics', 'marketing'];
/** path → how often */
export const pages: Readonly<Record<string, number>> = { '/': 5, '/sale': 3, '/products/4711': 2, '/journal': 1 };

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

/** `release` is the number of the current Chrome; Firefox is two ahead. */
export const userAgents = (release: number): Record<string, number> => ({
  [`${windows}) ${webkit} Chrome/${release}.0.0.0 Safari/537.36`]: 26,
  [`${windows}) ${webkit} Chrome/${release}.0.0.0 Safari/537.36 Edg/${release}.0.0.0`]: 10,
  [`${windows}; rv:${release + 2}.0) Gecko/20100101 Firefox/${release + 2}.0`]: 9,
  [`Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/${release}.0.0.0 Mobile Safari/537.36`]: 27,
  [`${iphone} Version/18.6 Mobile/15E148 Safari/604.1`]: 28,
});

/** The API marks it as `bot`. */
export const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
