/**
 * A record as a line of an export, with the fields of the log's page. Postgres builds the text: building it from rows would
 * take many times as long in this process, which also accepts records.
 */

import type { Sql } from '#libs/base/db/database';
import type { ExportFormat } from '#libs/base/terms/terms';
import { type FullRecord, fullRecord } from '#libs/record/contract';
import { expressionOf } from '#libs/record/fields';

/** A time as JavaScript writes it: in UTC, cut to milliseconds. */
const time = (moment: string): string => `to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL of the fields for which the log's page uses a different expression. */
const written: Partial<Record<keyof FullRecord, string>> = {
  decidedAt: time('to_timestamp(milliseconds_of(r.id) / 1000.0)'),
  receivedAt: time('r.received_at'),
  erasedAt: time('r.erased_at'),
  log: 'place.log',
  position: 'place.position',
};

/** SQL text for `records r`, joined by `joinReferences` and with its `place` in the log. */
const valueIn = (field: keyof FullRecord): string => written[field] ?? expressionOf(field);

/** Fields that never need quotes in CSV: all others may contain any text. */
const plain: ReadonlySet<string> = new Set<keyof FullRecord>([
  'id',
  'decision',
  'decidedAt',
  'receivedAt',
  'source',
  'gpc',
  'notice',
  'region',
  'model',
  'bot',
  'erasedAt',
  'log',
  'position',
]);

/** in the order of the log's page */
const names = fullRecord.keyof().options;

export const lineEnds: Record<ExportFormat, string> = { ndjson: '\n', csv: '\r\n' };

/** The text before all records. */
export const headers: Record<ExportFormat, string> = { ndjson: '', csv: names.join(',') + lineEnds.csv };

const json = names.map((name) => `${valueIn(name)} as "${name}"`).join(', ');
const cells = names.map((name) =>
  plain.has(name) ? `(${valueIn(name)})::text` : `csv_cell((${valueIn(name)})::text)`,
);

/** SQL text; `concat` skips null. */
const lines: Record<ExportFormat, string> = {
  ndjson: `(select row_to_json(record)::text from (select ${json}) as record)`,
  csv: `concat(${cells.join(", ',', ")})`,
};

/** The line of `records r`, without its end. */
export const lineOf = (sql: Sql, format: ExportFormat) => sql.unsafe(lines[format]);
