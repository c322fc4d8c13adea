/** Which field of a row each column of a foreign CSV is, and what its values mean. */

import { decisions } from '#libs/base/terms/terms';
import { importedFields } from './contract.ts';
import { columnsOf, requireColumn, requireDistinct, toValues } from './csv.ts';
import { Unreadable } from './rows.ts';

export interface Columns {
  /** field (or `preferences.CATEGORY`) → column */
  columns: Map<string, string>;
  /** field → its values there (in lower case) → ours */
  values: Map<string, Map<string, string>>;
  /** fields whose columns have to be there */
  required: Set<string>;
}

export const noColumns = (): Columns => ({ columns: new Map(), values: new Map(), required: new Set() });

/** `decision=Consent state` */
export function addColumn(text: string, { columns, required }: Columns, isRequired: boolean): void {
  const [, field, column] = /^([A-Za-z]+(?:\.[A-Za-z0-9_.:-]+)?)=(.+)$/.exec(text) ?? [];
  if (!field || !column) throw new Error(`--map is FIELD=COLUMN, not ${text}`);
  requireField(field);
  columns.set(field, column);
  if (isRequired) required.add(field);
}

/** `decision:accepted=accept_all` */
export function addValue(text: string, { values }: Columns): void {
  const [, field, theirs, ours] = /^([A-Za-z]+(?:\.[A-Za-z0-9_.:-]+)?):(.*)=(.*)$/.exec(text) ?? [];
  if (!field || theirs === undefined || ours === undefined) {
    throw new Error(`--map-value is FIELD:THEIRS=OURS, not ${text}`);
  }
  requireField(field);
  if (field === 'decision' && !decisions.some((each) => each === ours)) {
    throw new Error(`--map-value: a decision is one of ${decisions.join(', ')}, not ${ours}`);
  }
  const ofField = values.get(field) ?? new Map<string, string>();
  values.set(field, ofField.set(theirs.toLowerCase(), ours));
}

function requireField(field: string): void {
  if (importedFields.has(field) || field.startsWith('preferences.')) return;
  const fields = [...importedFields, 'preferences.CATEGORY'].join(', ');
  throw new Error(`no field ${field}; there are ${fields}`);
}

/** Columns that are not mapped keep their name. */
export function createFieldsOf({ columns: all, values, required }: Columns) {
  return (header: string[]) => {
    requireDistinct(header);
    const names = header.map((name) => name.trim());
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
          return [field, values.get(field)?.get(cell.toLowerCase()) ?? cell] as const;
        }),
      );
  };
}

const words = new Map<string, boolean>([
  ...['true', '1', 'yes', 'on', 'accepted', 'granted', 'allowed'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off', 'declined', 'rejected', 'denied'].map((word) => [word, false] as const),
]);

/** Categories that have columns of their own become `preferences`. */
function gather(cells: (readonly [string, string])[]): Record<string, unknown> {
  const categories = cells.filter(([field, cell]) => field.startsWith('preferences.') && cell !== '');
  const given = toValues(cells.filter(([field]) => !field.startsWith('preferences.')));
  if (categories.length > 0) {
    given.preferences = Object.fromEntries(
      categories.map(([field, cell]) => [field.slice('preferences.'.length), words.get(cell.toLowerCase()) ?? cell]),
    );
  }
  return given;
}
