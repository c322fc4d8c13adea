/** Consent logs of other services, by what their documentation says of their columns; not tried with real files. */
import { addColumn, addValue, type Columns, noColumns } from './columns.ts';

const presets: Record<string, { columns: string[]; values: string[] }> = {
  cookiebot: {
    columns: [
      'externalId=Key',
      'decidedAt=Date and time',
      'decision=Consent state',
      'ip=IP address',
      'userAgent=User agent',
      'pageUrl=URL',
      'preferences.preferences=Preferences',
      'preferences.statistics=Statistics',
      'preferences.marketing=Marketing',
    ],
    values: [
      'decision:accepted=accept_all',
      'decision:all=accept_all',
      'decision:declined=reject_all',
      'decision:necessary=reject_all',
      'decision:customized=custom',
      'decision:withdrawn=withdraw',
    ],
  },
  // a row for each service: of one decision the first is imported
  usercentrics: {
    columns: [
      'visitorId=Controller ID',
      'externalId=Controller ID',
      'decidedAt=Timestamp',
      'bannerVersion=CMP Configuration Version',
      'decision=Consent Action',
      'tcString=Consent String',
    ],
    values: [
      'decision:onAcceptAllServices=accept_all',
      'decision:onDenyAllServices=reject_all',
      'decision:onUpdateServices=custom',
    ],
  },
  cookieyes: {
    columns: ['externalId=Consent ID', 'decidedAt=Date', 'decision=Consent Status', 'country=Country', 'ip=IP Address'],
    values: [
      'decision:accepted=accept_all',
      'decision:rejected=reject_all',
      'decision:partially accepted=custom',
      'decision:withdrawn=withdraw',
    ],
  },
};

export const presetNames = Object.keys(presets);

/** With what else was given on the command line, which comes first. */
export function readColumns({
  preset,
  map,
  mapValue,
}: {
  preset?: string;
  map: string[];
  mapValue: string[];
}): Columns {
  const known = preset === undefined ? { columns: [], values: [] } : presets[preset];
  if (!known) throw new Error(`--preset is one of ${presetNames.join(', ')}`);
  const all = noColumns();
  // what else a preset names need not be in the file
  for (const text of known.columns) addColumn(text, all, /^(decision|decidedAt)=/.test(text));
  for (const text of map) addColumn(text, all, true);
  for (const text of [...known.values, ...mapValue]) addValue(text, all);
  return all;
}
