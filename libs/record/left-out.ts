/** What is left out of a body that is recorded all the same: the receipt names it, and never is a value kept of it. */
import { recordFields } from './contract.ts';

export interface LeftOut {
  /** `tcString`, or `metadata.shop` for one entry of a map */
  field: string;
  /** the rule that it broke, in the contract's words */
  why: string;
  type: 'string' | 'number' | 'boolean' | 'list' | 'map';
  /** characters of a string, entries of a list or map; null for the others */
  length: number | null;
}

export function leaveOut(field: string, why: string, value: unknown): LeftOut {
  if (typeof value === 'string') return { field, why, type: 'string', length: value.length };
  if (typeof value === 'number' || typeof value === 'boolean') return { field, why, type: toType(value), length: null };
  if (Array.isArray(value)) return { field, why, type: 'list', length: value.length };
  return { field, why, type: 'map', length: Object.keys(Object(value)).length };
}

const toType = (value: number | boolean) => (typeof value === 'number' ? 'number' : 'boolean');

/** names in a receipt */
const named = 20;

/** As the receipt names them: `…` stands for the rest. */
export const toIgnored = (leftOut: readonly LeftOut[]): string[] => {
  const names = leftOut.map(({ field }) => field);
  return names.length > named ? [...names.slice(0, named), '…'] : names;
};

/** Counts what was left out of a record or display that was taken, and notes it for whoever manages the domain. */
export const createNoteLeftOut =
  ({
    metrics,
    ignoredFields,
  }: {
    metrics: { ignoredFields: { inc(labels: { field: string }): void } };
    ignoredFields: { note(domainId: string, leftOut: LeftOut): void };
  }): NoteLeftOut =>
  (domainId, leftOut) => {
    for (const each of leftOut) metrics.ignoredFields.inc({ field: labelOf(each.field) });
    for (const each of leftOut.slice(0, named)) ignoredFields.note(domainId, each);
  };

/** Of what is no field the name is the sender's. */
export function labelOf(field: string, known = recordFields): string {
  const [name = ''] = field.split('.');
  return known.has(name) ? name : 'unknown';
}

export type NoteLeftOut = (domainId: string, leftOut: readonly LeftOut[]) => void;
