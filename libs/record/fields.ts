/**
 * The fields of a record, from a request to the row, and from the row to a response. A record's place in a log is not among
 * them: the rooms that build on this one add it with a join.
 */

import type { Sql } from '#libs/base/db/database';
import { timeOf } from '#libs/base/terms/calendar';
import { type FullRecord, fullRecord, type NewRecord, type RecordBody } from './contract.ts';
import { storedPageUrl } from './rules.ts';

/** Fields that the caller determines: from the request, or from the body after a check. */
type Found = Pick<
  NewRecord,
  | 'id'
  | 'domainId'
  | 'receivedAt'
  | 'source'
  | 'country'
  | 'region'
  | 'ip'
  | 'userAgent'
  | 'gpc'
  | 'bot'
  | 'importedAt'
  | 'requestId'
>;

/** Lists every field: a single object shape is faster to build and to serialize than a spread. */
export const toRecord = (body: RecordBody, found: Found): NewRecord => ({
  id: found.id,
  domainId: found.domainId,
  decision: body.decision,
  receivedAt: found.receivedAt,
  source: found.source,
  visitorId: body.visitorId,
  preferences: body.preferences,
  bannerVersion: body.bannerVersion,
  policyVersion: body.policyVersion,
  language: body.language,
  pageUrl: body.pageUrl === undefined ? undefined : storedPageUrl(body.pageUrl),
  country: found.country,
  ip: found.ip,
  userAgent: found.userAgent,
  tcString: body.tcString,
  gppString: body.gppString,
  gpc: found.gpc,
  metadata: body.metadata,
  notice: body.notice,
  variant: body.variant,
  region: found.region,
  model: body.model,
  bot: found.bot,
  importedAt: found.importedAt,
  requestId: found.requestId,
});

/** Values that a record refers to by number; undefined for none. */
interface Named {
  userAgentNumber: number | undefined;
  noticeNumber: number | undefined;
  /** whether the user agent is a crawler */
  crawler: boolean | undefined;
}

/**
 * A record as `persist` takes it: user agents and notices by number, and only stored fields. Listing the fields takes
 * 1.5 µs a record including serialization, a spread 4.2.
 */
export const toStored = (record: NewRecord, { userAgentNumber, noticeNumber, crawler }: Named) => ({
  id: record.id,
  domainId: record.domainId,
  decision: record.decision,
  receivedAt: record.receivedAt,
  source: record.source ?? 'banner',
  gpc: record.gpc,
  visitorId: record.visitorId,
  preferences: record.preferences,
  bannerVersion: record.bannerVersion,
  policyVersion: record.policyVersion,
  language: record.language,
  pageUrl: record.pageUrl,
  country: record.country,
  ip: record.ip,
  userAgentNumber,
  tcString: record.tcString,
  gppString: record.gppString,
  metadata: record.metadata,
  noticeNumber,
  variant: record.variant,
  region: record.region,
  model: record.model,
  bot: record.bot ?? crawler ?? false,
  importedAt: record.importedAt,
});

type StoredField = Exclude<keyof ReturnType<typeof toStored>, 'domainId'>;

/** The columns of `records` with their types. */
const types: Record<StoredField, string> = {
  id: 'uuid',
  decision: 'decision',
  receivedAt: 'timestamptz',
  source: 'source',
  gpc: 'boolean',
  visitorId: 'text',
  preferences: 'jsonb',
  bannerVersion: 'text',
  policyVersion: 'text',
  language: 'text',
  pageUrl: 'text',
  country: 'text',
  ip: 'text',
  userAgentNumber: 'integer',
  tcString: 'text',
  gppString: 'text',
  metadata: 'jsonb',
  noticeNumber: 'integer',
  variant: 'text',
  region: 'text',
  model: 'text',
  bot: 'boolean',
  importedAt: 'timestamptz',
};

export const storedFields = Object.keys(types);
/** `pageUrl` → `page_url` */
export const columnOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** SQL text: the columns, and the fields of `toStored` in the same order for `json_to_recordset`. */
export const storedColumns = storedFields.map(columnOf).join(', ');
export const storedTypes = Object.entries(types)
  .map(([field, type]) => `"${field}" ${type}`)
  .join(', ');

type Shown = Omit<FullRecord, 'log' | 'position'>;

export type Row = Omit<Shown, 'decidedAt' | 'receivedAt' | 'erasedAt'> & {
  receivedAt: Date;
  importedAt: Date | null;
  erasedAt: Date | null;
};

/** The fields that a record's log entry is made of. */
export type LoggedRecord = Shown & { importedAt: string | null };

const inOtherTables: Record<string, string> = {
  domainId: 'domains.id',
  userAgent: 'user_agents.text',
  notice: "encode(notices.hash, 'hex')",
};

/** SQL text: the expression for a field of `Row` in `records r`, joined by `joinReferences`. */
export const expressionOf = (field: string): string => inOtherTables[field] ?? `r.${columnOf(field)}`;

/** `decidedAt` comes from the id, the other two from the log. */
const shown = fullRecord.omit({ decidedAt: true, log: true, position: true }).keyof().options;
const read = [...shown, 'importedAt'].map((field) => `${expressionOf(field)} as "${field}"`).join(', ');

/** The columns of `records r`, joined by `joinReferences`. */
export const columns = (sql: Sql) => sql.unsafe(read);

/** The time of an import is only in the log entry, not in responses. */
export const importedAtOf = ({ importedAt }: Row): string | null => importedAt?.toISOString() ?? null;

export const toLoggedRecord = (row: Row): LoggedRecord => ({ ...toShown(row), importedAt: importedAtOf(row) });

export const toShown = (row: Row): Shown => ({
  id: row.id,
  domainId: row.domainId,
  decision: row.decision,
  decidedAt: new Date(timeOf(row.id)).toISOString(),
  receivedAt: row.receivedAt.toISOString(),
  visitorId: row.visitorId,
  preferences: row.preferences,
  source: row.source,
  bannerVersion: row.bannerVersion,
  policyVersion: row.policyVersion,
  language: row.language,
  pageUrl: row.pageUrl,
  country: row.country,
  ip: row.ip,
  userAgent: row.userAgent,
  tcString: row.tcString,
  gppString: row.gppString,
  gpc: row.gpc,
  metadata: row.metadata,
  notice: row.notice,
  variant: row.variant,
  region: row.region,
  model: row.model,
  bot: row.bot,
  erasedAt: row.erasedAt?.toISOString() ?? null,
});
