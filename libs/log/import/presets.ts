/** The form of other services' files: built-in presets follow what is publicly known, others are JSON files. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { addColumn, addValue, type Columns, fieldProblem, noColumns, setValue, valueProblem } from './columns.ts';
import { importQuery } from './contract.ts';

const { timeFormat, timeZone, encoding } = importQuery.shape;

/** A preset contains options of the command, except those about one run. */
export const presetFile = z
  .strictObject({
    /** field → their column */
    columns: z.record(z.string(), z.string().min(1, 'must not be empty')).default({}),
    /** field → their value → ours */
    values: z.record(z.string(), z.record(z.string(), z.string())).default({}),
    delimiter: z.string().length(1, 'must be one character').optional(),
    timeFormat,
    timeZone,
    encoding,
  })
  .superRefine(({ columns, values }, ctx) => {
    const add = (path: string[], message: string | undefined) =>
      message !== undefined && ctx.addIssue({ code: 'custom', path, message });
    for (const field of Object.keys(columns)) add(['columns', field], fieldProblem(field));
    for (const [field, meanings] of Object.entries(values)) {
      add(['values', field], fieldProblem(field));
      for (const [theirs, ours] of Object.entries(meanings)) add(['values', field, theirs], valueProblem(field, ours));
    }
  });
export type Preset = z.infer<typeof presetFile>;

// not tested with real files; the services publish no time format beyond ISO 8601
const builtIn: ReadonlyMap<string, Preset> = new Map([
  [
    'cookiebot',
    {
      columns: {
        externalId: 'Key',
        decidedAt: 'Date and time',
        decision: 'Consent state',
        ip: 'IP address',
        userAgent: 'User agent',
        pageUrl: 'URL',
        'preferences.preferences': 'Preferences',
        'preferences.statistics': 'Statistics',
        'preferences.marketing': 'Marketing',
      },
      values: {
        decision: {
          accepted: 'accept_all',
          all: 'accept_all',
          declined: 'reject_all',
          necessary: 'reject_all',
          customized: 'custom',
          withdrawn: 'withdraw',
        },
      },
    },
  ],
  // the file has one row per service; of the rows of one decision, only the first is imported
  [
    'usercentrics',
    {
      columns: {
        visitorId: 'Controller ID',
        externalId: 'Controller ID',
        decidedAt: 'Timestamp',
        bannerVersion: 'CMP Configuration Version',
        decision: 'Consent Action',
        tcString: 'Consent String',
      },
      values: {
        decision: { onAcceptAllServices: 'accept_all', onDenyAllServices: 'reject_all', onUpdateServices: 'custom' },
      },
    },
  ],
  [
    'cookieyes',
    {
      columns: {
        externalId: 'Consent ID',
        decidedAt: 'Date',
        decision: 'Consent Status',
        country: 'Country',
        ip: 'IP Address',
      },
      values: {
        decision: {
          accepted: 'accept_all',
          rejected: 'reject_all',
          'partially accepted': 'custom',
          withdrawn: 'withdraw',
        },
      },
    },
  ],
]);

export const presetNames = [...builtIn.keys()];

/** A built-in preset, or a JSON file. Throws an error of one line. */
export async function readPreset(name: string): Promise<Preset> {
  const known = builtIn.get(name);
  if (known) return known;
  if (!name.endsWith('.json')) throw new Error(`--preset is one of ${presetNames.join(', ')}, or a .json file`);
  const read = presetFile.safeParse(parseJson(name, await readFile(name, 'utf8')));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Error(`${name}: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ')}`);
}

/** Editors on Windows begin a file with a byte order mark. */
function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${name} is not valid JSON: ${why.replaceAll(/\s+/g, ' ')}`);
  }
}

/** The columns of a preset, and those given as options, which override them. */
export function readColumns({ columns, values }: Preset, map: string[], mapValue: string[]): Columns {
  const all = noColumns();
  for (const [field, column] of Object.entries(columns)) {
    all.columns.set(field, column);
    // the file may lack the other columns of a preset
    if (['decision', 'decidedAt'].includes(field)) all.required.add(field);
  }
  for (const text of map) addColumn(text, all);
  for (const [field, meanings] of Object.entries(values))
    for (const [theirs, ours] of Object.entries(meanings)) setValue(all, field, theirs, ours);
  for (const text of mapValue) addValue(text, all);
  return all;
}
