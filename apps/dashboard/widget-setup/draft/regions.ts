/** Rules for places, parsed and formatted. */
import type { Region } from '#libs/widget/config';
import { countriesOf, type Place, ruleFor } from '#libs/widget/places';
import { optOutStates, type RegionPreset, regionPresets } from '#libs/widget/region-presets';
import { valueName } from '../../data/dimensions.ts';

export const modelNames = {
  opt_in: 'Visitors are asked first',
  opt_out: 'Visitors may object: until then everything runs',
  none: 'Nobody is asked: everything runs',
};

const names: ReadonlyMap<string, string> = new Map([
  ['*', 'Everywhere else'],
  ['EEA', 'European Economic Area'],
  ['CA-QC', 'Quebec'],
  ...optOutStates.map(({ code, name }): [string, string] => [code, name]),
]);
export const placeName = (code: string): string =>
  names.get(code) ?? valueName(code.includes('-') ? 'region' : 'country', { value: code });

export const codesOf = ({ in: places }: Pick<Region, 'in'>): string[] => [places].flat();

export function readPlaces(text: string): Region['in'] {
  const codes = text
    .toUpperCase()
    .split(/[\s,;]+/)
    .filter(Boolean);
  return codes.length === 1 && codes[0] === '*' ? '*' : codes;
}

/** A rule in one line. */
export const ruleLine = (rule: Region): string =>
  [
    codesOf(rule).join(', '),
    modelNames[rule.model],
    rule.on && rule.on.length > 0 && `on: ${rule.on.join(', ')}`,
    rule.maxAgeMonths && `${rule.maxAgeMonths} months`,
  ]
    .filter(Boolean)
    .join('; ');

/** Entries that are not a valid place. */
export const unusedPresets = (regions: Region[]): RegionPreset[] =>
  regionPresets.filter(
    (preset) => !codesOf(preset).some((code) => regions.some((rule) => codesOf(rule).includes(code))),
  );

/** Inserts a rule before the one for all other places, after which no rule is reached. */
export function withRule(regions: Region[], { in: places, model }: Pick<Region, 'in' | 'model'>): Region[] {
  const last = regions.findIndex((rule) => rule.in === '*');
  return regions.toSpliced(last === -1 ? regions.length : last, 0, { in: places, model });
}

/** Removes settings that have no effect under the rule's model. */
export const tidyRule = ({ on = [], maxAgeMonths, ...rule }: Region): Region => ({
  ...rule,
  ...(rule.model === 'opt_in' && on.length > 0 && { on }),
  ...(Number(maxAgeMonths) > 0 && { maxAgeMonths }),
});

interface Visitor {
  value: string;
  name: string;
  place: Place;
}

/** Sample visitors for the preview: one for each place with a rule of its own, and one in an unknown place. */
export function visitorsFor(regions: Region[]): Visitor[] {
  const known = regions.flatMap((rule) =>
    codesOf(rule).flatMap((code) => {
      // an uninhabited place, which no rule names
      const places = (code === '*' ? ['AQ'] : (countriesOf(code) ?? [code])).map(
        (each): Place => ({ country: each.slice(0, 2), region: each.includes('-') ? each : null }),
      );
      const place = places.find((each) => ruleFor(regions, each) === rule);
      return place ? [{ value: code, name: placeName(code), place }] : [];
    }),
  );
  return [{ value: '', name: 'An unknown place', place: { country: null, region: null } }, ...known];
}
