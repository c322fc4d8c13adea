/** The made-up sites and their visitors. All names are reserved for examples. What is listed twice is twice as frequent. */

export type Site = (typeof sites)[number];

const german = ['de-DE', 'de-DE', 'de-DE', 'de-AT'];

/**
 * `share`: percent of all visits; they add up to 100. `accept`, `reject`: percent of the visitors; the others choose for
 * themselves. `languages`: of browsers, with the country of most visitors who have it. `better`: by how many percent more
 * accept the shorter text in the site's experiment; without it there is none. The first is the domain of the demo shop.
 */
export const sites = [
  { name: 'demo.example', share: 17, accept: 52, reject: 31, languages: ['en-GB', 'en-GB', 'en-US'], better: 1 },
  { name: 'nordlicht.example', share: 40, accept: 58, reject: 30, languages: german, better: 7 },
  { name: 'lumiere.example', share: 24, accept: 49, reject: 38, languages: ['fr-FR', 'fr-FR', 'fr-FR', 'de-DE'] },
  { name: 'tagblatt.example', share: 16, accept: 38, reject: 49, languages: german },
  { name: 'ledger.example', share: 3, accept: 41, reject: 33, languages: ['en-US'] },
];

/** How many visits begin in each UTC hour, beside each other. */
const visitsByHour = [2, 1, 1, 1, 1, 1, 2, 5, 7, 8, 8, 8, 9, 8, 7, 7, 8, 9, 10, 12, 13, 12, 9, 5];
export const hours = visitsByHour.flatMap((visits, hour) => Array<number>(visits).fill(hour));

/** Where the few come from whose country is not that of their language. */
export const abroad = ['NL', 'NL', 'CH', 'CH', 'CH', 'BE', 'BE', 'IT', 'ES', 'PL', 'SE', 'DK', 'IE', 'CA'];

export const categories = ['functional', 'analytics', 'marketing'] as const;
export const pages = ['/', '/', '/', '/sale', '/sale', '/products/4711', '/journal'];

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const chrome = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/141.0.0.0 Safari/537.36`;
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0';
const android = `Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/141.0.0.0 Mobile Safari/537.36`;
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1';
const tablet = `Mozilla/5.0 (Linux; Android 14; SM-X710) ${webkit} Chrome/141.0.0.0 Safari/537.36`;
const desktops = [chrome, chrome, chrome, chrome, firefox];
export const userAgents = [...desktops, android, android, android, iphone, iphone, iphone, tablet];

/** The API marks it as `bot`. */
export const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
