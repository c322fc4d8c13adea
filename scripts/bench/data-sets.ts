/**
 * Large data sets, made by SQL inside Postgres and kept below `.data/bench/`: one organization with 200 domains and
 * records over 22 months, to the end of the next one, so that "the last 7 days" has its share for weeks to come. The
 * first domain has half of all records, and a tenth of all on one single day. Records lie in the order of their time, as
 * they would have come. One decision in a thousand is a `withdraw`.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { addMonths, dayOf, firstDay, monthOfDay, monthsBetween, startOf } from '#libs/contract/calendar';
import { migrate } from '#libs/store/migrate';
import { setBookmarks } from '#libs/store/records/bookmarks';
import { createDatabase, type Database } from '#libs/store/sql';
import { Advice } from '../stack/advice.ts';
import { dataRoot, ensureDataRoot, root } from '../stack/paths.ts';
import { type RunningPostgres, startPostgres } from '../stack/postgres.ts';
import { userAgent, visitorDigits, visitors } from './bodies.ts';

export const organizationId = 'org_bench';
export const domains = 200;
export const domainIdOf = (index: number): string => `dom_bench_${String(index).padStart(3, '0')}`;
/** It has half of the records, and the busy day. */
export const largestDomain = domainIdOf(0);

const monthsBack = 20;
/** days that a data set serves: its last month is then still ahead */
const goodFor = 21;
/** with its indexes, with the journal while it is made, and some room */
const bytesPerRecord = 1_100;

/** How the time of a data set is laid out, from the day on which it was made. */
export function spanOf(day: string) {
  const firstMonth = addMonths(monthOfDay(day), -monthsBack);
  const end = addMonths(monthOfDay(day), 2);
  const start = startOf(firstDay(firstMonth));
  const busyMonth = addMonths(monthOfDay(day), -monthsBack / 2);
  return { start, end: startOf(firstDay(end)), firstMonth, lastMonth: addMonths(end, -1), busyDay: `${busyMonth}-15` };
}

interface DataSet {
  made: string;
  fingerprint: string;
}

interface Setting {
  say: (line: string) => void;
  /** Takes what stops a server that was started. */
  onStop: (step: () => Promise<unknown>) => void;
}

/** Starts the Postgres that holds the data set of so many records; where it is missing, stale or unfinished, makes it. */
export async function startDataSet(records: number, setting: Setting): Promise<RunningPostgres> {
  const { say } = setting;
  const start = async (settings: Record<string, string> = {}) => {
    const postgres = await startPostgres({ dataDir, settings, say });
    setting.onStop(postgres.stop);
    return postgres;
  };
  const dataDir = path.join(ensureDataRoot(), 'bench', `records-${records}`);
  const found = await start();
  if (await isGood(found.url)) return found;
  await found.stop();
  requireSpace(records);
  say(`making a data set of ${records.toLocaleString('en-US')} records, which is kept in .data/bench …`);
  const started = performance.now();
  const loading = await start(bulkLoad);
  try {
    await makeIn(loading.url, records);
  } finally {
    await loading.stop();
  }
  say(`made in ${Math.round((performance.now() - started) / 1_000)} s`);
  return start();
}

export async function readMadeOn(db: Database): Promise<string> {
  const [row] = await db.run((sql) => sql<DataSet[]>`select made, fingerprint from bench_data_set`);
  if (!row) throw new Error('there is no data set');
  return row.made;
}

function requireSpace(records: number): void {
  const { bavail, bsize } = statfsSync(dataRoot);
  const needed = records * bytesPerRecord + 500_000_000;
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
  if (bavail * bsize < needed) {
    const kept = `${records.toLocaleString('en-US')} records need ${gigabytes(needed)} below .data/bench`;
    throw new Advice(`${kept}, and ${gigabytes(bavail * bsize)} are free`);
  }
}

/** Of the schema and of this file: a data set that either would make differently is stale. */
function fingerprint(): string {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)));
  const migrations = path.join(root, 'libs/store/migrations');
  for (const name of readdirSync(migrations).sort()) hash.update(readFileSync(path.join(migrations, name)));
  return hash.digest('hex');
}

const openDatabase = (url: string) =>
  createDatabase({ url, max: 1, statementTimeout: 900_000, deadline: 901_000, prepare: false, name: 'bench' });

async function isGood(url: string): Promise<boolean> {
  const db = openDatabase(url);
  try {
    const [there] = await db.run((sql) => sql`select to_regclass('bench_data_set')::text as name`);
    if (!there?.name) return false;
    const [row] = await db.run((sql) => sql<DataSet[]>`select made, fingerprint from bench_data_set`);
    const age = row ? (Date.now() - startOf(row.made)) / 86_400_000 : Number.POSITIVE_INFINITY;
    return row?.fingerprint === fingerprint() && age < goodFor;
  } finally {
    await db.close();
  }
}

/** How a server is set up for a bulk load. */
const bulkLoad = {
  max_wal_size: '2GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  synchronous_commit: 'off',
  shared_buffers: '1GB',
  maintenance_work_mem: '512MB',
  autovacuum: 'off',
};

/** The mark comes last: without it the data set counts as unfinished. */
async function makeIn(url: string, records: number): Promise<void> {
  const db = openDatabase(url);
  try {
    await db.run((sql) => sql`drop schema public cascade`);
    await db.run((sql) => sql`create schema public`);
    await migrate(url);
    const made = dayOf(Date.now());
    await makeTenants(db);
    const { firstMonth, lastMonth } = spanOf(made);
    for (const month of monthsBetween(firstDay(firstMonth), firstDay(lastMonth))) {
      await makeMonth(db, { made, month, records });
    }
    await makeCounters(db);
    await setBookmarks(db, { today: made });
    await db.run((sql) => sql`vacuum (analyze)`);
    await db.run((sql) => sql`create table bench_data_set (made text not null, fingerprint text not null)`);
    await db.run((sql) => sql`insert into bench_data_set values (${made}, ${fingerprint()})`);
    await db.run((sql) => sql`checkpoint`);
  } finally {
    await db.close();
  }
}

async function makeTenants(db: Database): Promise<void> {
  await db.run((sql) => sql`insert into plans (name) values ('bench')`);
  await db.run((sql) => sql`insert into organizations (id, name, plan) values (${organizationId}, 'Bench', 'bench')`);
  const ids = Array.from({ length: domains }, (_, index) => domainIdOf(index));
  await db.run(
    (sql) => sql`
      insert into domains (id, organization_id, name)
      select id, ${organizationId}, id || '.example' from unnest(${ids}::text[]) as id`,
  );
}

/** Nine tenths of the records come evenly over the whole time, of nine four to the first domain; then the busy day. */
async function makeMonth(db: Database, { made, month, records }: { made: string; month: string; records: number }) {
  const { start, end, busyDay } = spanOf(made);
  const even = Math.round(records * 0.9);
  const perRecord = (end - start) / even;
  const firstOf = (time: number) => Math.ceil((time - start) / perRecord);
  const first = firstOf(startOf(firstDay(month)));
  const last = firstOf(startOf(firstDay(addMonths(month, 1)))) - 1;
  const busy = monthOfDay(busyDay) === month ? records - even : 0;
  await db.run((sql) => sql`select make_record_month(${month})`);
  await db.run(
    (sql) => sql`
      insert into records (
        domain_id, id, organization_id, decision, received_at, source, visitor_id, preferences, banner_version,
        policy_version, page_url, ip, user_agent
      )
      select
        'dom_bench_' || lpad(domain::text, 3, '0'),
        (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(n & 4095), 3, '0') || '8' || lpad(to_hex(random), 15, '0'))::uuid,
        ${organizationId},
        case
          when random % 1000 = 0 then 'withdraw' when random % 1000 < 500 then 'accept_all'
          when random % 1000 < 820 then 'reject_all' else 'custom'
        end::decision,
        to_timestamp(ms / 1000.0), 'banner', 'visitor-' || lpad((random / 1000 % ${visitors})::text, ${visitorDigits}, '0'),
        jsonb_build_object('necessary', true, 'analytics', random % 1000 < 500, 'marketing', random % 1000 < 500),
        '2.4.1', '2026-09', 'https://shop.example/products/' || (100 + n % 500), '203.0.113.0', ${userAgent}
      from (
        select
          n, ms, hashint8extended(n, 1) & x'0fffffffffffffff'::bigint as random,
          case when busy or n % 9 < 4 then 0 else 1 + (hashint8extended(n, 2) & 1048575) % (${domains}::int - 1) end as domain
        from (
          select n, floor(${start}::float8 + n * ${perRecord}::float8)::bigint as ms, false as busy
          from generate_series(${first}::bigint, ${last}::bigint) as n
          union all
          select ${records}::bigint + n, ${startOf(busyDay)}::bigint + floor(n * 86400000.0 / ${Math.max(busy, 1)}::float8)::bigint, true
          from generate_series(0::bigint, ${busy}::bigint - 1) as n
        ) as times
      ) as made
      order by ms`,
  );
}

/** The four levels that the persist statement keeps. */
async function makeCounters(db: Database): Promise<void> {
  await db.run(
    (sql) => sql`
      insert into counters (organization_id, domain_id, period, accept_all, reject_all, custom, withdraw)
      select
        organization_id, domain_id, to_char(date '1970-01-01' + day::int, 'YYYY-MM-DD'),
        count(*) filter (where decision = 'accept_all'), count(*) filter (where decision = 'reject_all'),
        count(*) filter (where decision = 'custom'), count(*) filter (where decision = 'withdraw')
      from (select organization_id, domain_id, decision, milliseconds_of(id) / 86400000 as day from records) as r
      group by organization_id, domain_id, day`,
  );
  await db.run(
    (sql) => sql`
      insert into counters (organization_id, domain_id, period, accept_all, reject_all, custom, withdraw)
      select
        organization_id, level.domain_id, level.period, sum(accept_all), sum(reject_all), sum(custom), sum(withdraw)
      from counters c cross join lateral (
        values (c.domain_id, left(c.period, 7)), ('', c.period), ('', left(c.period, 7))
      ) as level (domain_id, period)
      group by organization_id, level.domain_id, level.period`,
  );
}
