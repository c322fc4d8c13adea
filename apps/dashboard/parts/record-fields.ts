/** The descriptive fields of a record with their names, for every page; null if nothing is stored. */
import type { FullRecord } from '#libs/record/contract';
import { valueName } from '../data/dimensions.ts';

const sources: Record<FullRecord['source'], string> = {
  banner: 'the banner',
  preferences: 'the settings',
  gpc: 'Global Privacy Control',
  api: 'an API call',
  import: 'an import',
};

const models: Record<NonNullable<FullRecord['model']>, string> = {
  opt_in: 'consent is asked first',
  opt_out: 'visitors may object',
  none: 'nobody is asked',
};

/** The name of a language, country or region with its code. */
function named(dimension: 'language' | 'country' | 'region', value: string | null): string | null {
  const name = value && valueName(dimension, { value });
  return name === value ? value : `${name} (${value})`;
}

export const fieldsOf = (record: FullRecord): [name: string, text: string | null][] => [
  ['Source', sources[record.source]],
  ['Model', record.model && models[record.model]],
  ['Global Privacy Control', record.gpc === null ? null : record.gpc ? 'on' : 'off'],
  ['Page', record.pageUrl],
  ['Language', named('language', record.language)],
  ['Country', named('country', record.country)],
  ['Region', named('region', record.region)],
  ['IP address', record.ip],
  ['Browser', record.userAgent],
  ['Banner version', record.bannerVersion],
  ['Policy version', record.policyVersion],
  ['Variant', record.variant],
  ['TC string', record.tcString],
  ['GPP string', record.gppString],
];
