/**
 * The deletion of an organization: all rows that are its own, in small batches. First nothing may come any more, then the
 * records go, then what was made of them, last its names. Whoever begins again after an interruption ends it.
 */
import { z } from 'zod';
import { deleteRejected, listRejected } from '../records/rejected.ts';
import type { Database, Sql } from '../sql.ts';
import { createPerform } from './perform.ts';

/** rows in one transaction */
const batch = 1_000;

export interface Leaving {
  organizationId: string;
  number: number;
  domains: { domainId: string; number: number }[];
}

interface Owned {
  table: string;
  /** the column that says whose a row is */
  by: 'domain_number' | 'domain_id' | 'organization_number' | 'organization_id' | 'webhook';
}

/** Beside records, in the order in which they go. Whoever seals locks a domain's row in logs, so its runs go after it. */
export const owned: Owned[] = [
  { table: 'webhook_deliveries', by: 'webhook' },
  { table: 'webhook_lanes', by: 'webhook' },
  { table: 'webhooks', by: 'organization_id' },
  { table: 'erasures_to_seal', by: 'domain_number' },
  { table: 'log_keys', by: 'domain_number' },
  { table: 'logs', by: 'domain_number' },
  { table: 'log_runs', by: 'domain_number' },
  { table: 'log_nodes', by: 'domain_number' },
  { table: 'log_texts', by: 'domain_number' },
  { table: 'stamped_checkpoints', by: 'domain_number' },
  { table: 'erased_commitments', by: 'domain_number' },
  { table: 'notices', by: 'domain_number' },
  { table: 'notice_days', by: 'domain_number' },
  { table: 'refused_origins', by: 'domain_number' },
  { table: 'displays', by: 'domain_number' },
  // of workers of the release before
  { table: 'bookmarks', by: 'domain_number' },
  { table: 'visitor_counters', by: 'domain_number' },
  { table: 'busy_visitors', by: 'domain_number' },
  { table: 'crawler_counters', by: 'domain_number' },
  { table: 'owed_raises', by: 'organization_id' },
  { table: 'counters', by: 'organization_id' },
  { table: 'facets', by: 'organization_number' },
  { table: 'tombstones', by: 'organization_number' },
  { table: 'erasures', by: 'organization_number' },
  { table: 'visitor_acts', by: 'organization_number' },
  { table: 'administrative_acts', by: 'organization_id' },
  { table: 'revoked_tokens', by: 'organization_number' },
  { table: 'api_keys', by: 'domain_id' },
];

/** Ends recording, reading and deliveries. Undefined where there is no such organization. */
export function closeOrganization(db: Database, actor: string, organizationId: string): Promise<Leaving | undefined> {
  return createPerform(
    db,
    actor,
  )(async (sql, note) => {
    const [organization] = await sql<{ number: number }[]>`
      update organizations set tokens_since = '9999-12-31' where id = ${organizationId} returning number`;
    if (!organization) return undefined;
    const domains = await sql<Leaving['domains']>`
      update domains set archived_at = coalesce(archived_at, clock_timestamp())
      where organization_id = ${organizationId} returning id as "domainId", number`;
    const ids = domains.map(({ domainId }) => domainId);
    await sql`
      update api_keys set revoked_at = clock_timestamp() where domain_id = any(${ids}) and revoked_at is null`;
    await sql`update webhooks set enabled = false where organization_id = ${organizationId}`;
    await sql`insert into deleted_ids (id) select unnest(${[organizationId, ...ids]}::text[]) on conflict do nothing`;
    await note({ act: 'org.close', subject: organizationId });
    return { organizationId, number: organization.number, domains };
  });
}

/** All that is stored, but for the names. Returns how many records. */
export async function deleteRows(db: Database, leaving: Leaving, tell: (records: number) => void): Promise<number> {
  let records = 0;
  // what was under way when a table was looked at is found the second time
  for (let isEmpty = false; !isEmpty; ) {
    isEmpty = true;
    for (const partition of await db.run(listPartitions)) {
      const delete_ = () => db.run((sql) => deleteRecords(sql, partition, leaving));
      for (let some = await delete_(); some > 0; some = await delete_()) {
        records += some;
        isEmpty = false;
        tell(records);
      }
    }
    for (const each of owned) {
      const delete_ = () => db.run((sql) => deleteSome(sql, each, leaving));
      while ((await delete_()) > 0) isEmpty = false;
    }
    if ((await deleteRejections(db, leaving)) > 0) isEmpty = false;
  }
  return records;
}

const listPartitions = async (sql: Sql): Promise<string[]> => {
  const rows = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'records'::regclass order by 1`;
  return rows.map(({ name }) => name);
};

/** Texts of user agents that nobody else names go later, as those of erased records do. */
async function deleteRecords(sql: Sql, partition: string, { domains }: Leaving): Promise<number> {
  const [row] = await sql<{ deleted: number }[]>`
    with gone as (
      delete from ${sql(partition)} where ctid = any(array(
        select ctid from ${sql(partition)} where domain_number = any(${domains.map(({ number }) => number)}) limit ${batch}
      ))
      returning user_agent_number
    ),
    noted as (
      insert into user_agents_to_look_for (number)
      select distinct user_agent_number from gone where user_agent_number is not null order by 1
      on conflict (number) do update set noted_at = clock_timestamp()
    )
    select count(*)::int as deleted from gone`;
  return row?.deleted ?? 0;
}

async function deleteSome(sql: Sql, { table, by }: Owned, leaving: Leaving): Promise<number> {
  const { count } = await sql`
    delete from ${sql(table)} where ctid = any(array(
      select ctid from ${sql(table)} where ${sql(by)} = any(${valuesOf(sql, by, leaving)}) limit ${batch}
    ))`;
  return count;
}

function valuesOf(sql: Sql, by: Owned['by'], { organizationId, number, domains }: Leaving) {
  if (by === 'webhook') return sql`array(select number from webhooks where organization_id = ${organizationId})`;
  if (by === 'organization_id') return sql`${[organizationId]}::text[]`;
  if (by === 'organization_number') return sql`${[number]}::int[]`;
  if (by === 'domain_id') return sql`${domains.map(({ domainId }) => domainId)}::text[]`;
  return sql`${domains.map((domain) => domain.number)}::int[]`;
}

const ofDomain = z.looseObject({ domainId: z.string() });

async function deleteRejections(db: Database, { domains }: Leaving): Promise<number> {
  const ids = new Set(domains.map(({ domainId }) => domainId));
  let deleted = 0;
  let after: number | undefined;
  for (;;) {
    const page = await db.run((sql) => listRejected(sql, { limit: batch, after }));
    const theirs = page.filter(({ record }) => {
      const read = ofDomain.safeParse(JSON.parse(record));
      return read.success && ids.has(read.data.domainId);
    });
    if (theirs.length > 0)
      await db.run((sql) =>
        deleteRejected(
          sql,
          theirs.map(({ id }) => id),
        ),
      );
    deleted += theirs.length;
    after = page.at(-1)?.id;
    if (page.length < batch) return deleted;
  }
}

/** What is left is one act and the ids, which are never given again. */
export const deleteNames = (db: Database, actor: string, { organizationId, domains }: Leaving): Promise<void> =>
  createPerform(
    db,
    actor,
  )(async (sql, note) => {
    // in one transaction with the act that is newer: processes follow the newest
    await sql`delete from administrative_acts where act = 'org.close' and subject = ${organizationId}`;
    await sql`delete from domains where organization_id = ${organizationId}`;
    await sql`delete from organizations where id = ${organizationId}`;
    await note({ act: 'org.delete', subject: organizationId, details: { domains: domains.length } });
  });
