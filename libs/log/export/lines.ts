/**
 * A record as a line of an export, with the fields of the log's page. Postgres writes the text: it takes a process that
 * also records a fraction of the time that it would take to make it of rows.
 */

import type { Sql } from '#libs/base/db/database';
import type { ExportFormat } from '#libs/base/terms/terms';
import { type FullRecord, fullRecord } from '#libs/record/contract';

type Expression = ReturnType<Sql>;

/** `isFree`: it may hold any text, which CSV has to quote. */
interface Field {
  value: Expression;
  isFree: boolean;
}

/** Of `records r`, joined by `joinNames` and with its `place` in the log. */
function fieldsOf(sql: Sql): Record<keyof FullRecord, Field> {
  const plain = (value: Expression): Field => ({ value, isFree: false });
  const free = (value: Expression): Field => ({ value, isFree: true });
  return {
    id: plain(sql`r.id`),
    domainId: free(sql`domains.id`),
    decision: plain(sql`r.decision`),
    decidedAt: plain(time(sql, sql`to_timestamp(milliseconds_of(r.id) / 1000.0)`)),
    receivedAt: plain(time(sql, sql`r.received_at`)),
    visitorId: free(sql`r.visitor_id`),
    preferences: free(sql`r.preferences`),
    source: plain(sql`r.source`),
    bannerVersion: free(sql`r.banner_version`),
    policyVersion: free(sql`r.policy_version`),
    language: free(sql`r.language`),
    pageUrl: free(sql`r.page_url`),
    country: free(sql`r.country`),
    ip: free(sql`r.ip`),
    userAgent: free(sql`user_agents.text`),
    tcString: free(sql`r.tc_string`),
    gppString: free(sql`r.gpp_string`),
    gpc: plain(sql`r.gpc`),
    metadata: free(sql`r.metadata`),
    notice: plain(sql`encode(notices.hash, 'hex')`),
    variant: free(sql`r.variant`),
    bot: plain(sql`r.bot`),
    erasedAt: plain(time(sql, sql`r.erased_at`)),
    log: plain(sql`place.log`),
    position: plain(sql`place.position`),
  };
}

/** In the order of the log's page. */
const names = fullRecord.keyof().options;

/** As JavaScript writes it: in UTC, cut to milliseconds. */
const time = (sql: Sql, moment: Expression): Expression =>
  sql`to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const lineEnds: Record<ExportFormat, string> = { ndjson: '\n', csv: '\r\n' };

/** What is before all records. */
export const headers: Record<ExportFormat, string> = { ndjson: '', csv: names.join(',') + lineEnds.csv };

/** The line of `records r`, without its end. */
export const lineOf = (sql: Sql, format: ExportFormat): Expression =>
  format === 'ndjson' ? jsonLine(sql) : csvLine(sql);

function jsonLine(sql: Sql): Expression {
  const fields = fieldsOf(sql);
  const list = names
    .map((name) => sql`${fields[name].value} as ${sql(name)}`)
    .reduce((all, one) => sql`${all}, ${one}`);
  return sql`(select row_to_json(record)::text from (select ${list}) as record)`;
}

/** `concat` leaves out what is null. */
function csvLine(sql: Sql): Expression {
  const fields = fieldsOf(sql);
  const cells = names.map((name) => {
    const { value, isFree } = fields[name];
    return isFree ? sql`csv_cell((${value})::text)` : sql`(${value})::text`;
  });
  return sql`concat(${cells.reduce((all, one) => sql`${all}, ',', ${one}`)})`;
}
