/** What describes a record, each field with its name, as every page shows it; null where nothing is stored. */
import type { FullRecord } from '#libs/record/contract';

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

export const fieldsOf = (record: FullRecord): [name: string, text: string | null][] => [
  ['Source', sources[record.source]],
  ['Model', record.model && models[record.model]],
  ['Global Privacy Control', record.gpc === null ? null : record.gpc ? 'on' : 'off'],
  ['Page', record.pageUrl],
  ['Language', record.language],
  ['Country', record.country],
  ['Region', record.region],
  ['IP address', record.ip],
  ['Browser', record.userAgent],
  ['Banner version', record.bannerVersion],
  ['Policy version', record.policyVersion],
  ['Variant', record.variant],
  ['TC string', record.tcString],
  ['GPP string', record.gppString],
];
