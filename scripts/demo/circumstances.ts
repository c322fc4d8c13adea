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
  const isShort = random() < 0.5;
  const variant = `wording-${quarterOf(date)}:${isShort ? 'short' : 'plain'}`;
  return { country, variant, leaning: leaning + (isShort ? site.better : 0) };
}

/** The banner is redesigned each September: a year always has two of them. */
export function bannerOf(date: string): string {
  const [year, month] = [Number(date.slice(0, 4)), Number(date.slice(5, 7))];
  return `${month < 9 ? year - 1 : year}-09`;
}

/** Every other one is easier to read. */
const leaningOfBanner = (date: string): number => (Number(bannerOf(date).slice(0, 4)) % 2 === 0 ? 8 : 0);
const leaningOfDevice = (userAgent: string): number => (/Mobile|Android/.test(userAgent) ? 3 : -3);
const quarterOf = (date: string): string => `${date.slice(0, 4)}-q${Math.ceil(Number(date.slice(5, 7)) / 3)}`;
