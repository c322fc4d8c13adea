/** The made-up sites and their visitors. All names are reserved for examples. */

export interface Site {
  /** the domain's name, and the host of its pages */
  name: string;
  /** percent of all visits */
  share: number;
  /** this many times as many visits after a year */
  growth: number;
  /** Saturday and Sunday, beside 1 for a weekday */
  weekend: number;
  /** January to December */
  season: readonly number[];
  countries: Partial<Record<keyof typeof countries, number>>;
  decides: Record<'accept_all' | 'reject_all' | 'custom', number>;
  categories: readonly string[];
  /** a path and how often it is visited */
  pages: Readonly<Record<string, number>>;
}

/** Hours ahead of UTC, and the language of the browser. */
export const countries = {
  AT: { ahead: 1, language: 'de-AT' },
  CH: { ahead: 1, language: 'de-CH' },
  DE: { ahead: 1, language: 'de-DE' },
  FR: { ahead: 1, language: 'fr-FR' },
  GB: { ahead: 0, language: 'en-GB' },
  US: { ahead: -6, language: 'en-US' },
};

/** Visits by local hour. */
export const hours: Record<string, number> = Object.fromEntries(
  [2, 1, 0.6, 0.4, 0.4, 0.8, 2, 5, 7, 8, 8, 8, 9, 8, 7, 7, 8, 9, 10, 12, 13, 12, 9, 5].map((weight, hour) => [
    hour,
    weight,
  ]),
);

const shopSeason = [9, 7, 8, 8, 8, 7, 7, 7, 8, 9, 13, 15];

export const sites: readonly Site[] = [
  {
    // the domain that npm start has made for the demo shop
    name: 'demo.example',
    share: 17,
    growth: 1.3,
    weekend: 1.15,
    season: shopSeason,
    countries: { GB: 50, US: 30, DE: 20 },
    decides: { accept_all: 52, reject_all: 31, custom: 17 },
    categories: ['functional', 'analytics', 'marketing'],
    pages: { '/': 5, '/table': 2, '/cups/morning-cup': 2, '/bowls/porridge-bowl': 1 },
  },
  {
    name: 'nordlicht-outdoor.example',
    share: 40,
    growth: 1.15,
    weekend: 1.1,
    season: shopSeason,
    countries: { DE: 70, AT: 17, CH: 13 },
    decides: { accept_all: 58, reject_all: 30, custom: 12 },
    categories: ['functional', 'analytics', 'marketing', 'personalization'],
    pages: { '/': 5, '/jacken': 3, '/zelte': 2, '/sale': 2, '/p/4711-daunenjacke': 1 },
  },
  {
    name: 'maison-lumiere.example',
    share: 24,
    growth: 1,
    weekend: 1.2,
    season: [13, 7, 8, 8, 8, 9, 10, 5, 9, 9, 11, 13],
    countries: { FR: 90, CH: 10 },
    decides: { accept_all: 49, reject_all: 38, custom: 13 },
    categories: ['analytics', 'marketing', 'social'],
    pages: { '/': 5, '/lampes': 3, '/soldes': 2, '/produit/lampe-cocon': 1 },
  },
  {
    name: 'tagblatt-am-fluss.example',
    share: 16,
    growth: 0.85,
    weekend: 0.9,
    season: [10, 10, 10, 9, 8, 8, 7, 7, 10, 9, 9, 8],
    countries: { DE: 82, AT: 9, CH: 9 },
    decides: { accept_all: 38, reject_all: 49, custom: 13 },
    categories: ['analytics', 'marketing', 'video', 'social'],
    pages: { '/': 6, '/lokales': 3, '/sport': 2, '/wetter': 1 },
  },
  {
    name: 'ledgerloop.example',
    share: 3,
    growth: 2,
    weekend: 0.2,
    season: [12, 10, 11, 9, 8, 8, 6, 6, 9, 9, 8, 4],
    countries: { US: 70, GB: 30 },
    decides: { accept_all: 41, reject_all: 33, custom: 26 },
    categories: ['functional', 'analytics', 'marketing'],
    pages: { '/': 4, '/pricing': 3, '/signup': 1 },
  },
];

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

/** `release` is the number of the current Chrome; Firefox is two ahead. */
export const userAgents = (release: number): Record<string, number> => ({
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/${release}.0.0.0 Safari/537.36`]: 26,
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/${release}.0.0.0 Safari/537.36 Edg/${release}.0.0.0`]: 10,
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:${release + 2}.0) Gecko/20100101 Firefox/${release + 2}.0`]: 9,
  [`Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/${release}.0.0.0 Mobile Safari/537.36`]: 27,
  [`${iphone} Version/18.6 Mobile/15E148 Safari/604.1`]: 28,
});

/** Marked as `bot` by the API. */
export const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
