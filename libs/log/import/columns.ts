/** Which field each column of a foreign CSV contains, and what its values mean. */

import { decisions } from '#libs/base/terms/terms';
import { preferences } from '#libs/record/contract';
import { importedFields } from './contract.ts';
import { booleanWords, columnsOf, namesOf, requireColumn, toValues, unlessNull } from './csv.ts';
import { Unreadable } from './encodings.ts';

export interface Columns {
  /** field (or `preferences.CATEGORY`) → column */
  columns: Map<string, string>;
  /** field → its values there (in lower case) → ours */
  values: Map<string, Map<string, string>>;
  /** fields without whose columns the file is refused */
  required: Set<string>;
}

export const noColumns = (): Columns => ({ columns: new Map(), values: new Map(), required: new Set() });

/** Adds a required column, such as `decision=Consent state`. */
export function addColumn(text: string, { columns, required }: Columns): void {
  const [, field, column] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (!field || !column) throw new Error(`--map is FIELD=COLUMN, not ${text}`);
  const problem = fieldProblem(field);
  if (problem !== undefined) throw new Error(`--map ${text}: ${problem}`);
  columns.set(field, column);
  required.add(field);
}

/** Adds a meaning, such as `decision:accepted=accept_all`. */
export function addValue(text: string, all: Columns): void {
  const [, field, theirs, ours] = /^([A-Za-z]+(?:\.[A-Za-z0-9_.:-]+)?):(.*)=(.*)$/.exec(text) ?? [];
  if (!field || theirs === undefined || ours === undefined) {
    throw new Error(`--map-value is FIELD:THEIRS=OURS, not ${text}`);
  }
  const problem = fieldProblem(field) ?? valueProblem(field, ours);
  if (problem !== undefined) throw new Error(`--map-value ${text}: ${problem}`);
  setValue(all, field, theirs, ours);
}

export function setValue({ values }: Columns, field: string, theirs: string, ours: string): void {
  const ofField = values.get(field) ?? new Map<string, string>();
  values.set(field, ofField.set(theirs.toLowerCase(), ours));
}

/** Why no column can contain this field; undefined if one can. */
export function fieldProblem(field: string): string | undefined {
  if (importedFields.has(field)) return undefined;
  if (!field.startsWith('preferences.'))
    return `is no field; there are ${[...importedFields, 'preferences.CATEGORY'].join(', ')}`;
  const isCategory = preferences.safeParse({ [field.slice('preferences.'.length)]: true }).success;
  return isCategory ? undefined : 'a category has a name of 1 to 64 letters, digits and _ . : -';
}

/** Why no value can mean this; undefined if one can. */
export const valueProblem = (field: string, ours: string): string | undefined =>
  field === 'decision' && !decisions.some((each) => each === ours)
    ? `must be ${decisions.slice(0, -1).join(', ')} or ${decisions.at(-1)}, not ${ours}`
    : undefined;

/** Columns that are not mapped are fields of their own name. */
export function createFieldsOf({ columns: all, values, required }: Columns) {
  return (header: string[]) => {
    const names = namesOf(header);
    const columns = new Map([...all].filter(([, column]) => names.includes(column)));
    for (const [field, column] of all) {
      if (required.has(field) && !columns.has(field)) {
        throw new Unreadable(`the file has no column ${JSON.stringify(column)} for ${field}; ${columnsOf(names)}`);
      }
    }
    const mapped = new Set(columns.values());
    const plain = names.flatMap((name, at) => (mapped.has(name) || columns.has(name) ? [] : [[name, at] as const]));
    const sources = [...plain, ...[...columns].map(([field, column]) => [field, names.indexOf(column)] as const)];
    requireColumn(
      'decision',
      sources.map(([field]) => field),
      names,
    );
    return (cells: string[]): Record<string, unknown> =>
      gather(
        sources.map(([field, at]) => {
          const cell = (cells[at] ?? '').trim();
          return [field, values.get(field)?.get(cell.toLowerCase()) ?? unlessNull(field, cell)] as const;
        }),
      );
  };
}

/** Categories that have columns of their own become `preferences`. */
function gather(cells: (readonly [string, string | undefined])[]): Record<string, unknown> {
  const categories = cells.flatMap(([field, cell]) =>
    field.startsWith('preferences.') && cell
      ? [[field.slice('preferences.'.length), booleanWords.get(cell.toLowerCase()) ?? cell]]
      : [],
  );
  const given = toValues(cells.filter(([field, cell]) => !cell || !field.startsWith('preferences.')));
  if (categories.length > 0) given.preferences = Object.fromEntries(categories);
  return given;
}
