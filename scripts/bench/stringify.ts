/**
 * What an export costs where csv-stringify writes the text instead of Postgres: the same pages of the same records, as
 * rows. Its one argument is a `StringifyLoad`. Its output: records a second, and what each took of CPU time. The first
 * tenth is not measured.
 */
import { stringify } from 'csv-stringify/sync';
import { fullRecord } from '#libs/contract/responses';
import { joinPlace, placesOf } from '#libs/store/export/pages';
import { columns, type Row, toRecord } from '#libs/store/records/full-record';
import { joinNames, numberOf } from '#libs/store/records/names';
import { createDatabase, type Sql } from '#libs/store/sql';
import { figuresBetween, type Look, look } from './cpu-time.ts';

export interface StringifyLoad {
  databaseUrl: string;
  domainId: string;
  records: number;
  postgres: number;
}

/** As an export's pages. */
const pageSize = 1_000;
const { databaseUrl, domainId, records, postgres }: StringifyLoad = JSON.parse(process.argv[2] ?? '{}');
const timeouts = { statementTimeout: 60_000, deadline: 61_000 };
const db = createDatabase({ url: databaseUrl, max: 1, ...timeouts, prepare: true, name: 'bench' });
const form = {
  columns: fullRecord.keyof().options,
  escape_formulas: true,
  record_delimiter: 'windows',
  cast: { boolean: String },
} as const;

const readPage = (sql: Sql, after: string) => sql<Row[]>`
  with page as materialized (
    select * from records where domain_number = ${numberOf(sql, domainId)} and id > ${after} order by id limit ${pageSize}
  ),
  ${placesOf(sql)}
  select ${columns(sql)} from placed r ${joinNames(sql)} ${joinPlace(sql)} order by r.id`;

const pids = { process: process.pid, Postgres: postgres };
let first: Look | undefined;
let after = '00000000-0000-0000-0000-000000000000';
let read = 0;
for (;;) {
  const rows = await db.run((sql) => readPage(sql, after));
  const last = rows.at(-1);
  if (!last) break;
  if (Buffer.from(stringify(rows.map(toRecord), form)).length === 0) throw new Error('nothing was written');
  after = last.id;
  read += rows.length;
  if (read >= records / 10) first ??= look(read, pids);
}
await db.close();
if (!first || read !== records) throw new Error(`read ${read} records of ${records}`);
process.stdout.write(JSON.stringify(figuresBetween('export: csv-stringify', first, look(read, pids))));
