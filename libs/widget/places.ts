/** Which rule of a site holds where somebody is. */
import type { Region } from './config.ts';
import { includes, map, words } from './tamper-proof.ts';

/** As the service answers; null where it does not know. */
export interface Place {
  /** ISO 3166-1 alpha-2 */
  country: string | null;
  /** ISO 3166-2 */
  region: string | null;
}

/** With its outermost regions, which have codes of their own, and Åland. */
const union = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK GP MQ GF RE YT MF AX';
const groups: Record<string, string> = { EU: union, EEA: `${union} IS LI NO` };

/** Countries of `EU` and `EEA`; undefined for any other code. */
export const countriesOf = (code: string): string[] | undefined =>
  code === 'EU' || code === 'EEA' ? words(groups[code] ?? '') : undefined;

/** The first that matches. `*` matches every place that is known. */
export const ruleFor = (regions: Region[], { country, region }: Place): Region | undefined =>
  map(regions, (rule) => {
    if (!country) return undefined;
    const isThere = (code: string) => includes(countriesOf(code) ?? [code], country) || code === region || undefined;
    return rule.in === '*' || map(rule.in, isThere)[0] ? rule : undefined;
  })[0];
