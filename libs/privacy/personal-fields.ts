/**
 * Removes the personal fields of records. For a sealed record, it stores the entry's `private` commitment and replaces the
 * secret by the salt of `circumstances`. The entry and its proofs can still be made, but nobody can check a guess at the
 * personal fields.
 */

import type { Sql } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import { sha256 } from '#libs/base/sha256';
import { runOf } from '#libs/proof/positions';
import { commitment, type PrivateFields, privateText, saltOf } from '#libs/proof/tree/entry';
import { erasedFamiliesOf } from '#libs/record/user-agent-families';

/** Records per transaction: this many take about 50 ms, during which sealing and storing wait. */
export const blankLimit = 500;

/** A record with the fields that are to be removed. */
export interface Personal extends PrivateFields {
  id: string;
  epoch: number;
  userAgentNumber: number | null;
}

/** The columns of `records r`, joined with `user_agents`. */
export const personalColumns = (sql: Sql) => sql`
  r.id, r.epoch, r.visitor_id as "visitorId", r.ip, user_agents.text as "userAgent", r.page_url as "pageUrl", r.metadata,
  r.user_agent_number as "userAgentNumber"`;

/**
 * Blocks sealing of the domain until the transaction ends, so that what we read next includes everything sealed so far. If
 * the domain has no log, locks the domain, and then a log that was created meanwhile.
 */
export async function lockLog(sql: Sql, domainNumber: number): Promise<void> {
  const lock = () => sql`select from logs where domain_number = ${domainNumber} and ended_at is null for update`;
  if ((await lock()).count > 0) return;
  await sql`select from domains where number = ${domainNumber} for update`;
  await lock();
}

/** `records`: of one domain, at most `blankLimit`, read and locked under `lockLog`. */
export async function blankRecords(sql: Sql, domainNumber: number, records: Personal[]): Promise<void> {
  if (records.length === 0) return;
  const ids = records.map(({ id }) => id);
  await replaceSecrets(sql, domainNumber, records);
  const families = await erasedFamiliesOf(sql, numbersIn(records));
  await sql`
    update records set
      visitor_id = null, ip = null, user_agent_number = null, page_url = null, metadata = null,
      erased_at = clock_timestamp(),
      user_agent_family = (
        select family from json_to_recordset(${JSON.stringify(families)}::text::json) as f (number integer, family integer)
        where f.number = user_agent_number
      )
    where domain_number = ${domainNumber} and id = any(${ids})`;
}

/** The numbers of their user agents, each once. */
const numbersIn = (records: Personal[]): number[] => [
  ...new Set(records.flatMap(({ userAgentNumber }) => userAgentNumber ?? [])),
];

/**
 * Queues an entry about each erased record for its domain's log, and queues the user agents to be deleted if no record has
 * them any more. Call it once per transaction, for all domains together: rows are written in order, so that two
 * transactions cannot deadlock.
 */
export async function queueErasures(
  sql: Sql,
  records: (Personal & { domainNumber: number; erasureId: string | null })[],
): Promise<void> {
  if (records.length === 0) return;
  const named = records.map(({ domainNumber, id, epoch, erasureId }) => ({ domainNumber, id, epoch, erasureId }));
  await sql`
    insert into user_agents_to_look_for (number) select unnest(${numbersIn(records)}::integer[]) order by 1
    on conflict (number) do update set noted_at = clock_timestamp()`;
  await sql`
  insert into erasures_to_seal (domain_number, record_id, epoch, erased_on, erasure)
  select "domainNumber", id, epoch, (clock_timestamp() at time zone 'UTC')::date, "erasureId"
  from json_to_recordset(${JSON.stringify(named)}::text::json)
    as r ("domainNumber" integer, id uuid, epoch integer, "erasureId" text)
  order by 1, 2
  on conflict do nothing`;
}

interface SecretPosition {
  id: string;
  log: number;
  first: number;
  among: number;
}

async function replaceSecrets(sql: Sql, domainNumber: number, records: Personal[]): Promise<void> {
  const named = records.map(({ id, epoch }) => ({ id, epoch }));
  const places = await sql<SecretPosition[]>`
    select r.id, run.log, run.first, among
    from (
      select ${domainNumber}::integer as domain_number, id, epoch
      from json_to_recordset(${JSON.stringify(named)}::text::json) as r (id uuid, epoch integer)
    ) as r
    cross join lateral (${runOf(sql)}) as run
    cross join place_among(run.ids, r.id) as among
    where among is not null and run.secrets is not null`;
  if (places.length === 0) return;
  const byId = new Map(records.map((record) => [record.id, record]));
  const byRun = groupBy(places, ({ log, first }) => `${log} ${first}`);
  const runs = [...byRun.values()].flatMap(([place]) => (place ? [{ log: place.log, first: place.first }] : []));
  const stored = await sql<{ log: number; first: number; secrets: Buffer }[]>`
    select r.log, r.first, r.secrets
    from json_to_recordset(${JSON.stringify(runs)}::text::json) as f (log integer, first bigint)
    join log_runs r on r.domain_number = ${domainNumber} and r.log = f.log and r.first = f.first`;
  const commitments: { log: number; position: number; private: string }[] = [];
  for (const { log, first, secrets } of stored) {
    for (const { id, among } of byRun.get(`${log} ${first}`) ?? []) {
      const secret = Buffer.from(secrets.subarray(among * 16, among * 16 + 16));
      const kept = commitment(sha256, saltOf(sha256, 'private', secret), privateText(byId.get(id) ?? {}));
      commitments.push({ log, position: first + among, private: Buffer.from(kept, 'base64url').toString('base64') });
      secrets.set(saltOf(sha256, 'circumstances', secret), among * 16);
    }
  }
  const replaced = stored.map((run) => ({ ...run, secrets: run.secrets.toString('base64') }));
  await sql`
    update log_runs as r set secrets = decode(s.secrets, 'base64')
    from json_to_recordset(${JSON.stringify(replaced)}::text::json) as s (log integer, first bigint, secrets text)
    where r.domain_number = ${domainNumber} and r.log = s.log and r.first = s.first`;
  await sql`
    insert into erased_commitments (domain_number, log, position, private)
    select ${domainNumber}::integer, log, position, decode(private, 'base64')
    from json_to_recordset(${JSON.stringify(commitments)}::text::json) as c (log integer, position bigint, private text)`;
}
