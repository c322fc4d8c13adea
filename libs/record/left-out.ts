/** Fields that are left out of a body that is recorded. The receipt names them; their values are not stored. */
export interface LeftOut {
  /** `tcString`, or `metadata.shop` for one entry of a map */
  field: string;
  /** the rule that it broke, in the contract's words */
  why: string;
  type: 'string' | 'number' | 'boolean' | 'list' | 'map';
  /** characters of a string, entries of a list or map; null for the others */
  length: number | null;
}

export function describeLeftOut(field: string, why: string, value: unknown): LeftOut {
  if (typeof value === 'string') return { field, why, type: 'string', length: value.length };
  if (typeof value === 'number' || typeof value === 'boolean') return { field, why, type: toType(value), length: null };
  if (Array.isArray(value)) return { field, why, type: 'list', length: value.length };
  return { field, why, type: 'map', length: Object.keys(Object(value)).length };
}

const toType = (value: number | boolean) => (typeof value === 'number' ? 'number' : 'boolean');

/** names in a receipt */
const mostNames = 20;

/** As the receipt names them: `…` stands for the rest. */
export const toIgnored = (leftOut: readonly LeftOut[]): string[] => {
  const names = leftOut.map(({ field }) => field);
  return names.length > mostNames ? [...names.slice(0, mostNames), '…'] : names;
};

/** Counts what was left out of a record or display, and notes it for the domain's managers. `fields`: the known ones. */
export const createNoteLeftOut =
  ({
    metrics,
    ignoredFields,
    fields,
  }: {
    metrics: { ignoredFields: { inc(labels: { field: string }, count: number): void } };
    ignoredFields: { note(domainId: string, leftOut: LeftOut): void };
    fields: ReadonlySet<string>;
  }): NoteLeftOut =>
  (domainId, leftOut) => {
    // a body may have thousands of unknown fields
    const counts = new Map<string, number>();
    for (const { field } of leftOut) {
      const label = labelOf(field, fields);
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    for (const [field, count] of counts) metrics.ignoredFields.inc({ field }, count);
    for (const each of leftOut.slice(0, mostNames)) ignoredFields.note(domainId, each);
  };

/** Unknown fields share one label, because the sender can choose any name for them. */
export function labelOf(field: string, known: ReadonlySet<string>): string {
  const [name = ''] = field.split('.');
  return known.has(name) ? name : 'unknown';
}

export type NoteLeftOut = (domainId: string, leftOut: readonly LeftOut[]) => void;
