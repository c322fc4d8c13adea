/**
 * The indexes of `records`, except for its primary key. `create index` on the whole table would block recording, Postgres
 * cannot build one concurrently on a partitioned table, and only a running database knows its partitions. So each partition
 * gets its index concurrently, and the index of the table becomes valid with the last of them. The next run continues an
 * interrupted one.
 */
import type postgres from 'postgres';
import { isBlocked } from './errors.ts';
import { withShortLocks } from './short-locks.ts';

/** milliseconds */
const dropPatience = 20_000;

interface RecordIndex {
  name: string;
  definition: string;
  /**
   * Dropped by the migration after the one that built this index: until then, processes of the previous release may use it.
   */
  replaces?: string;
}

const wanted: RecordIndex[] = [
  // one visitor's history; record/visitor-rows.ts explains the columns
  {
    name: 'records_by_visitor',
    definition:
      '((hashtext(visitor_id) # domain_number), ((milliseconds_of(id) >> 14)::integer)) where visitor_id is not null',
    replaces: 'records_of_visitor',
  },
  // the newest records of a large organization; by time, which is half as wide as the id
  {
    name: 'records_by_organization',
    definition: '(organization_number, milliseconds_of(id)) where organization_number is not null',
  },
  // derivations read records epoch by epoch
  { name: 'records_by_epoch', definition: '(epoch, domain_number)' },
  // few records come from crawlers
  { name: 'records_by_bot', definition: '(domain_number, id, decision) where bot' },
  // withdrawals are rare: without it a page of them reads all other records
  { name: 'records_withdrawn', definition: `(domain_number, id) where decision = 'withdraw'` },
];

export async function buildRecordIndexes(sql: postgres.Sql): Promise<string[]> {
  const done: string[] = [];
  for (const index of wanted) {
    if (await build(sql, index)) done.push(`built ${index.name}`);
    else if (index.replaces && (await drop(sql, index.replaces))) done.push(`dropped ${index.replaces}`);
  }
  return done;
}

/** False if it is gone already, or if it is left to the next migration because a month stays locked. */
async function drop(sql: postgres.Sql, name: string): Promise<boolean> {
  if (!(await isValid(sql, name))) return false;
  try {
    await withShortLocks(sql, [`drop index ${name}`], dropPatience);
    return true;
  } catch (error) {
    if (isBlocked(error)) return false;
    throw error;
  }
}

/** False if it exists already. */
async function build(sql: postgres.Sql, { name, definition }: RecordIndex): Promise<boolean> {
  if (await isValid(sql, name)) return false;
  await withShortLocks(sql, [`create index if not exists ${name} on only records ${definition}`]);
  // a month created meanwhile gets its index when it is created
  while (!(await isValid(sql, name))) {
    const lacking = await listLacking(sql, name);
    for (const partition of lacking) await buildInPartition(sql, partition, { name, definition });
    if (lacking.length === 0) throw new Error(`the index ${name} stays invalid; drop it and migrate again`);
  }
  return true;
}

async function buildInPartition(sql: postgres.Sql, partition: string, index: RecordIndex): Promise<void> {
  const name = partition.replace('records', index.name);
  try {
    // Neither statement blocks others. The first removes what an interrupted run left behind.
    if (!(await isValid(sql, name))) await sql.unsafe(`drop index concurrently if exists ${name}`);
    await sql.unsafe(`create index concurrently if not exists ${name} on ${partition} ${index.definition}`);
    await withShortLocks(sql, [`alter index ${index.name} attach partition ${name}`]);
  } catch (error) {
    // retention may have dropped the month
    const [there] = await sql`select to_regclass(${partition}) is not null as "isThere"`;
    if (there?.isThere) throw error;
  }
}

async function isValid(sql: postgres.Sql, name: string): Promise<boolean> {
  const [found] = await sql`select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(${name})`;
  return found?.isValid === true;
}

/** The partitions that lack this index. */
async function listLacking(sql: postgres.Sql, name: string): Promise<string[]> {
  const rows = await sql<{ partition: string }[]>`
    select inhrelid::regclass::text as partition from pg_inherits
    where inhparent = 'records'::regclass and not inhdetachpending and not exists (
      select from pg_inherits as part join pg_index on indexrelid = part.inhrelid
      where part.inhparent = to_regclass(${name}) and indrelid = pg_inherits.inhrelid
    )
    order by 1`;
  return rows.map((row) => row.partition);
}
