/**
 * Jobs that this release cannot read, because they are of a newer one or broken: what they hold of records is found by its
 * names, so that whoever was erased leaves these jobs, too.
 */
import type { NewRecord } from './contract.ts';
import type { ChangeRecords } from './waiting-jobs.ts';

type Fields = Record<string, unknown>;

interface Found {
  fields: Fields;
  list: unknown[] | undefined;
  /** with what cannot be read left empty */
  record: NewRecord;
}

/** Undefined: nothing has to change; null: no record would be left. */
export async function rewriteUnreadable(data: unknown, change: ChangeRecords): Promise<unknown> {
  const copy: unknown = structuredClone(data);
  const domainIds = isFields(copy) && Array.isArray(copy.domainIds) ? copy.domainIds : [];
  const found = findRecords(copy, domainIds);
  const records = found.map(({ record }) => record);
  const changed = records.length > 0 ? await change(records) : undefined;
  if (!changed) return undefined;
  if (changed.length === 0) return null;
  const isShorter = changed.length < records.length;
  for (const [at, { fields, list, record }] of found.entries()) {
    if (changed.includes(record)) continue;
    const left = isShorter ? {} : changed[at];
    for (const name of Object.keys(fields)) if (!left || !(name in left)) delete fields[name];
    if (isShorter) list?.splice(list.indexOf(fields), 1);
  }
  if (isFields(copy)) forgetUnused(copy, found);
  return copy;
}

function findRecords(value: unknown, domainIds: unknown[], list?: unknown[]): Found[] {
  if (Array.isArray(value)) return value.flatMap((each) => findRecords(each, domainIds, value));
  if (!isFields(value)) return [];
  const domainId = typeof value.domainId === 'number' ? domainIds[value.domainId] : value.domainId;
  const own = typeof domainId === 'string' ? [{ fields: value, list, record: standFor(value, domainId) }] : [];
  return [...own, ...Object.values(value).flatMap((each) => findRecords(each, domainIds))];
}

function standFor(fields: Fields, domainId: string): NewRecord {
  const visitorId = fields.visitorId === undefined ? {} : { visitorId: String(fields.visitorId) };
  return Object.assign({ id: '', decision: 'custom' as const, receivedAt: '' }, fields, { domainId, ...visitorId });
}

/** Of texts that records share by their places in a list, those that no record refers to. */
function forgetUnused(data: Fields, found: Found[]): void {
  if (!Array.isArray(data.userAgents)) return;
  const used = new Set(found.map(({ fields }) => fields.userAgent));
  data.userAgents = data.userAgents.map((text, at) => (used.has(at) ? text : ''));
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
