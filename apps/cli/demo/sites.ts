/** The made-up sites of the demo: who visits them, when, and how they decide. All names are reserved for examples. */
import type { Decision } from '#libs/contract/terms';

/** Country → the hours that its clocks are ahead of UTC, and what is spoken there. */
export const countries = {
  AT: { ahead: 1, languages: { 'de-AT': 3, de: 1 } },
  AU: { ahead: 10, languages: { 'en-AU': 1 } },
  BE: { ahead: 1, languages: { 'nl-BE': 3, 'fr-BE': 2 } },
  CA: { ahead: -5, languages: { 'en-CA': 4, 'fr-CA': 1 } },
  CH: { ahead: 1, languages: { 'de-CH': 6, 'fr-CH': 2, 'it-CH': 1 } },
  DE: { ahead: 1, languages: { 'de-DE': 5, de: 3, 'en-US': 1, 'tr-TR': 0.3 } },
  DK: { ahead: 1, languages: { 'da-DK': 5, 'en-GB': 1 } },
  ES: { ahead: 1, languages: { 'es-ES': 5, 'ca-ES': 1 } },
  FR: { ahead: 1, languages: { 'fr-FR': 6, fr: 2, 'en-US': 0.6 } },
  GB: { ahead: 0, languages: { 'en-GB': 9, 'en-US': 1, 'pl-PL': 0.3 } },
  IE: { ahead: 0, languages: { 'en-IE': 1 } },
  IT: { ahead: 1, languages: { 'it-IT': 7, it: 2 } },
  NL: { ahead: 1, languages: { 'nl-NL': 5, 'en-US': 1 } },
  NO: { ahead: 1, languages: { 'nb-NO': 5, 'en-US': 1 } },
  SE: { ahead: 1, languages: { 'sv-SE': 5, 'en-US': 1 } },
  US: { ahead: -6, languages: { 'en-US': 9, 'es-US': 1 } },
} as const satisfies Record<string, { ahead: number; languages: Record<string, number> }>;

export type Country = keyof typeof countries;

/** How a day (24 local hours) and a week (from Sunday) go. */
export const rhythms = {
  shop: {
    hours: [2, 1, 0.6, 0.4, 0.4, 0.7, 2, 4, 6, 7, 8, 8, 9, 8, 7, 7, 8, 9, 10, 12, 14, 13, 9, 5],
    week: [1.18, 0.98, 0.93, 0.92, 0.95, 0.98, 1.06],
  },
  leisure: {
    hours: [3, 1.5, 0.8, 0.5, 0.5, 0.8, 2, 4, 5, 6, 7, 8, 8, 6, 5, 6, 8, 12, 14, 13, 12, 11, 8, 5],
    week: [1.42, 0.86, 0.82, 0.82, 0.86, 0.98, 1.24],
  },
  office: {
    hours: [0.3, 0.2, 0.1, 0.1, 0.2, 0.6, 2, 6, 12, 15, 15, 13, 9, 13, 14, 14, 12, 8, 4, 2.5, 2, 1.5, 1, 0.6],
    week: [0.22, 1.28, 1.38, 1.36, 1.3, 1.14, 0.32],
  },
  news: {
    hours: [3, 1.5, 1, 0.8, 1.2, 4, 10, 14, 12, 9, 8, 8, 10, 8, 7, 7, 8, 9, 9, 9, 9, 8, 6, 4],
    week: [0.92, 1.08, 1.04, 1.02, 1.04, 1.02, 0.88],
  },
} as const;

export interface Site {
  /** the domain's name, and the host of its pages */
  name: string;
  /** of all visits, in parts of 100 */
  share: number;
  markets: Partial<Record<Country, number>>;
  rhythm: keyof typeof rhythms;
  /** January to December, in any unit */
  season: readonly number[];
  /** a shop's days before Christmas */
  isShop: boolean;
  decides: Readonly<Record<Exclude<Decision, 'withdraw'>, number>>;
  /** of those who had agreed, how many take it back */
  withdraws: number;
  categories: readonly [string, ...string[]];
  /** months (1–12) in which its privacy policy changes */
  policyMonths: readonly [number, ...number[]];
  /** recorded by its own server: no banner, no page */
  byServer?: number;
  /** its banner refuses by itself where the browser says so */
  obeysGpc?: boolean;
  pages: readonly [string, ...string[]];
}

const even = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];

export const sites: readonly Site[] = [
  {
    // the domain of the demo shop, which is there already
    name: 'demo.example',
    share: 11,
    markets: { GB: 40, IE: 8, US: 22, DE: 12, NL: 10, CA: 8 },
    rhythm: 'shop',
    season: [8, 7, 8, 8, 7, 6, 6, 6, 8, 9, 12, 14],
    isShop: true,
    decides: { accept_all: 52, reject_all: 31, custom: 17 },
    withdraws: 0.045,
    categories: ['functional', 'analytics', 'marketing'],
    policyMonths: [3, 11],
    pages: [
      '/',
      '/',
      '/table',
      '/cups/morning-cup',
      '/bowls/porridge-bowl',
      '/jugs/rain-jug',
      '/vases/fern-vase',
      '/journal/glaze',
    ],
  },
  {
    name: 'nordlicht-outdoor.example',
    share: 27,
    markets: { DE: 66, AT: 17, CH: 12, NL: 5 },
    rhythm: 'shop',
    season: [11, 9, 8, 8, 9, 8, 7, 7, 8, 10, 13, 15],
    isShop: true,
    decides: { accept_all: 58, reject_all: 30, custom: 12 },
    withdraws: 0.035,
    categories: ['functional', 'analytics', 'marketing', 'personalization'],
    policyMonths: [1, 6],
    pages: [
      '/',
      '/',
      '/jacken',
      '/rucksaecke',
      '/zelte',
      '/sale',
      '/p/4711-daunenjacke',
      '/p/1042-trekkingrucksack',
      '/warenkorb',
      '/filialen',
    ],
  },
  {
    name: 'maison-lumiere.example',
    share: 16,
    markets: { FR: 72, BE: 16, CH: 8, CA: 4 },
    rhythm: 'shop',
    season: [13, 7, 8, 8, 8, 9, 10, 5, 9, 9, 11, 13],
    isShop: true,
    decides: { accept_all: 49, reject_all: 38, custom: 13 },
    withdraws: 0.04,
    categories: ['analytics', 'marketing', 'social'],
    policyMonths: [4, 9],
    pages: [
      '/',
      '/',
      '/lampes',
      '/suspensions',
      '/soldes',
      '/produit/lampe-cocon',
      '/produit/applique-lune',
      '/panier',
      '/magazine/salon',
    ],
  },
  {
    name: 'harbour-books.example',
    share: 13,
    markets: { GB: 55, IE: 9, US: 26, AU: 10 },
    rhythm: 'leisure',
    season: [9, 8, 8, 7, 7, 8, 9, 8, 8, 9, 12, 17],
    isShop: true,
    decides: { accept_all: 44, reject_all: 40, custom: 16 },
    withdraws: 0.05,
    categories: ['analytics', 'marketing'],
    policyMonths: [5],
    obeysGpc: true,
    pages: ['/', '/', '/fiction', '/new', '/book/salt-and-rope', '/book/the-long-pier', '/events', '/basket'],
  },
  {
    name: 'tagblatt-am-fluss.example',
    share: 12,
    markets: { DE: 82, AT: 9, CH: 9 },
    rhythm: 'news',
    season: [10, 10, 10, 9, 8, 8, 7, 7, 10, 9, 9, 8],
    isShop: false,
    decides: { accept_all: 38, reject_all: 49, custom: 13 },
    withdraws: 0.06,
    categories: ['analytics', 'marketing', 'video', 'social'],
    policyMonths: [2, 8],
    pages: [
      '/',
      '/',
      '/',
      '/lokales',
      '/sport',
      '/politik',
      '/wetter',
      '/lokales/bruecke-gesperrt',
      '/kultur/stadtfest',
    ],
  },
  {
    name: 'cucina-di-nonna.example',
    share: 8,
    markets: { IT: 78, CH: 6, DE: 6, US: 10 },
    rhythm: 'leisure',
    season: [9, 8, 9, 9, 7, 6, 5, 5, 7, 9, 10, 16],
    isShop: false,
    decides: { accept_all: 67, reject_all: 24, custom: 9 },
    withdraws: 0.025,
    categories: ['analytics', 'marketing'],
    policyMonths: [10],
    pages: [
      '/',
      '/ricette',
      '/ricette/ragu-della-domenica',
      '/ricette/tiramisu',
      '/ricette/focaccia',
      '/stagione',
      '/video',
    ],
  },
  {
    name: 'gartenwerk.example',
    share: 6,
    markets: { DE: 70, AT: 20, CH: 10 },
    rhythm: 'leisure',
    season: [3, 6, 14, 20, 18, 12, 8, 6, 6, 5, 3, 2],
    isShop: false,
    decides: { accept_all: 56, reject_all: 27, custom: 17 },
    withdraws: 0.03,
    categories: ['functional', 'analytics', 'marketing'],
    policyMonths: [3],
    pages: ['/', '/saatgut', '/werkzeug', '/hochbeete', '/p/tomate-harzfeuer', '/p/rosenschere', '/kalender'],
  },
  {
    name: 'fjordferie.example',
    share: 4,
    markets: { NO: 38, DK: 26, SE: 26, DE: 10 },
    rhythm: 'leisure',
    season: [16, 11, 9, 8, 10, 12, 10, 6, 5, 4, 4, 5],
    isShop: false,
    decides: { accept_all: 47, reject_all: 35, custom: 18 },
    withdraws: 0.055,
    categories: ['functional', 'analytics', 'marketing', 'maps'],
    policyMonths: [1, 7],
    pages: ['/', '/hytter', '/hytte/lofoten-12', '/hytte/geiranger-3', '/sok', '/booking'],
  },
  {
    name: 'ledgerloop.example',
    share: 2.6,
    markets: { US: 58, GB: 16, CA: 12, AU: 8, ES: 6 },
    rhythm: 'office',
    season: [12, 10, 11, 9, 8, 8, 6, 6, 9, 9, 8, 4],
    isShop: false,
    decides: { accept_all: 41, reject_all: 33, custom: 26 },
    withdraws: 0.05,
    categories: ['functional', 'analytics', 'marketing'],
    policyMonths: [2, 6, 10],
    byServer: 0.3,
    obeysGpc: true,
    pages: ['/', '/pricing', '/features/invoices', '/signup', '/blog/closing-the-books', '/docs/import'],
  },
  {
    name: 'keramik-am-hof.example',
    share: 0.4,
    markets: { AT: 80, DE: 20 },
    rhythm: 'shop',
    season: even,
    isShop: true,
    decides: { accept_all: 71, reject_all: 22, custom: 7 },
    withdraws: 0.02,
    categories: ['analytics', 'marketing'],
    policyMonths: [5],
    pages: ['/', '/werkstatt', '/kurse', '/schale-moos'],
  },
];
