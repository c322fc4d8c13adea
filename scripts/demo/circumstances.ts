/** Under what circumstances a visitor decides: where they are, and which banner they see. Both tell in the statistics. */
import { abroad, type Site } from './sites.ts';

interface Circumstances {
  country: string;
  /** of an A/B test, which a site has a new one of each quarter */
  variant?: string;
  /** how many percent more of the visitors accept, and fewer reject */
  leaning: number;
}

interface Visit {
  site: Site;
  /** `YYYY-MM-DD` */
  date: string;
  language: string;
  userAgent: string;
}

/** `random`: three numbers from 0 to less than 1. */
export function circumstancesOf({ site, date, language, userAgent }: Visit, random: () => number): Circumstances {
  const country = random() < 0.91 ? language.slice(3) : (abroad[Math.floor(random() * abroad.length)] ?? '');
  const leaning = leaningOfDevice(userAgent) + leaningOfBanner(date);
  if (!('better' in site)) return { country, leaning };
  const variant = variantOf(date, random());
  return { country, variant, leaning: leaning + (variant.endsWith('short') ? site.better : 0) };
}

/** `chance`: from 0 to less than 1 */
export const variantOf = (date: string, chance: number): string =>
  `wording-${quarterOf(date)}:${chance < 0.5 ? 'short' : 'plain'}`;

/** The banner is redesigned each September: a year always has two of them. */
export function bannerOf(date: string): string {
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
