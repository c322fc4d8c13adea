/** Finds the site's rule for a visitor's place. */
import type { Region } from './config.ts';
import { includes, map, words } from './tamper-proof.ts';

/** As in the service's response; null if unknown. */
export interface Place {
  /** ISO 3166-1 alpha-2 */
  country: string | null;
  /** ISO 3166-2 */
  region: string | null;
}

/** The EU with its outermost regions and Åland, which have codes of their own. */
const union = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK GP MQ GF RE YT MF AX';
const groups: Record<string, string> = { EU: union, EEA: `${union} IS LI NO` };

/** Countries of `EU` and `EEA`; undefined for any other code. */
export const countriesOf = (code: string): string[] | undefined =>
  code === 'EU' || code === 'EEA' ? words(groups[code] ?? '') : undefined;

/** The first rule that matches. `*` matches every known place. */
export const ruleFor = (regions: Region[], { country, region }: Place): Region | undefined =>
  map(regions, (rule) => {
    if (!country) return undefined;
    const isThere = (code: string) => includes(countriesOf(code) ?? [code], country) || code === region || undefined;
    return rule.in === '*' || map(rule.in, isThere)[0] ? rule : undefined;
  })[0];
