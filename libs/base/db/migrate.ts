/**
 * Migrations, one process at a time. The advisory lock is polled, because a blocking one would hang `create index
 * concurrently`. It belongs to a transaction, because a pooler may give a session's lock to another client. The indexes of
 * `records` follow, see record-indexes.ts.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { readAddress } from './address.ts';
import { advise } from './errors.ts';
import { buildRecordIndexes } from './record-indexes.ts';
import { type Arrangement, arrangeRoles } from './roles/arrange.ts';
import { withDefaultRights } from './roles/grants.ts';
import { roleNames } from './roles/roles.ts';
import { migrations, migrationsFolder, versions } from './schema.ts';
import { findSchema, tablesElsewhere } from './search-path.ts';
import { isolation, sessionBasics } from './session.ts';
import { type Waiting, waitForPostgres } from './wait-for-postgres.ts';

interface Options extends Waiting {
  roles: Arrangement;
}

/**
 * Waits up to `patience` for a server that is starting, and again for another migration. Roles and their rights are set up
 * as well, if this login may, see roles/arrange.ts. Resolves to one line for each thing done.
 */
export function migrate(
  databaseUrl: string,
  { patience = 60_000, say = () => {}, roles = ofDefaultPrefix }: Partial<Options> = {},
): Promise<string> {
  return withConnections(databaseUrl, async (sql) => {
    await waitForPostgres(sql, { patience, say });
    return underLock(sql, patience, async () => {
      await checkPlace(sql);
      if (await hasOlderMigration(sql)) throw new Error(tooOld(databaseUrl));
      // without a schema of ours, the first migration creates the tables in the current one
      const [current] = await sql<{ schema: string | null }[]>`select current_schema() as schema`;
      const schema = (await findSchema(sql)) ?? current?.schema ?? 'public';
      const place = { ...roleNames(roles.prefix), schema };
      return withDefaultRights(sql, place, async () => {
        const applied = await applyMissing(sql, place.schema);
        const lines = [
          ...applied,
          ...(await buildRecordIndexes(sql)),
          ...(await arrangeRoles(sql, place, roles.addresses)),
        ];
        return lines.map((line) => `${line}\n`).join('');
      });
    });
  });
}

const ofDefaultPrefix: Arrangement = { prefix: 'assent', addresses: {} };

/** A pooler accepts these at the start of a session, too. */
const connection = { ...sessionBasics };

/** Two connections: one holds the lock while the other works. */
async function withConnections<T>(databaseUrl: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const { url, ssl, socket } = readAddress(databaseUrl);
  const options = { ...socket, ssl, max: 2, max_lifetime: null, onnotice: () => {}, connect_timeout: 10 };
  const sql = postgres(url, { ...options, backoff: () => 0, prepare: false, fetch_types: false, connection });
  try {
    return await work(sql);
  } catch (error) {
    throw advise(error);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Whether the schema is older than our first migration: no upgrade leads from there. */
async function hasOlderMigration(sql: postgres.Sql): Promise<boolean> {
  const [table] = await sql`select where to_regclass('schema_migrations') is not null`;
  if (!table) return false;
  const [first = ''] = versions;
  const [older] = await sql`select from schema_migrations where version::text collate "C" < ${first} limit 1`;
  return older !== undefined;
}

/** Without this check a second, empty schema could be created, or one whose encoding lacks some languages. */
async function checkPlace(sql: postgres.Sql): Promise<void> {
  const elsewhere = await tablesElsewhere(sql);
  if (elsewhere) throw new Error(elsewhere);
  const [row] = await sql<{ encoding: string }[]>`select current_setting('server_encoding') as encoding`;
  if (row?.encoding !== 'UTF8') throw new Error(`the encoding of the database is ${row?.encoding}: it must be UTF8`);
}

function tooOld(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `the database ${host}${pathname} has a schema from before the first release: nothing was changed, use an empty database`;
}

/** Each try is a transaction of its own: `create index concurrently` waits for every transaction that had a snapshot. */
async function underLock(sql: postgres.Sql, patience: number, work: () => Promise<string>): Promise<string> {
  const end = performance.now() + patience;
  while (performance.now() < end) {
    // another level would keep a snapshot
    const done = await sql.begin(`isolation level ${isolation}`, async (holder) => {
      // this transaction is idle until all migrations are done
      await holder`set local idle_in_transaction_session_timeout = 0`;
      // otherwise the connection would keep the statement's snapshot
      const [row] = await holder<{ held: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtext('assent.migrate')) as held`.simple();
      return row?.held ? work() : undefined;
    });
    if (done !== undefined) return done;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`another migration has been running for ${patience / 1000} s`);
}

/** Oldest first. Returns one line for each migration that was missing. */
async function applyMissing(sql: postgres.Sql, schema: string): Promise<string[]> {
  const [known] = await sql`select where to_regclass('schema_migrations') is not null`;
  if (!known) await sql`create table schema_migrations (version varchar primary key)`;
  const rows = await sql<{ version: string }[]>`select version from schema_migrations`;
  const applied = new Set(rows.map(({ version }) => version));
  const missing = migrations.filter(({ version }) => !applied.has(version));
  for (const { version, file } of missing) {
    try {
      await apply(sql, schema, version, readFileSync(path.join(migrationsFolder, file), 'utf8'));
    } catch (error) {
      throw new Error(`${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  return missing.map(({ file }) => `Applied: ${file}`);
}

/** What a migration does, and how. Throws if that is unclear: nothing would be done and it would be stored as done. */
export function readUp(text: string): { how: string; up: string } {
  const [, how = '', up = ''] = /^-- migrate:up(.*)$([\s\S]*)^-- migrate:down/m.exec(text) ?? [];
  if (up.trim() === '') throw new Error('there is nothing between -- migrate:up and -- migrate:down');
  return { how, up };
}

/**
 * In one transaction with its row in `schema_migrations`, except for a single statement that cannot run in a transaction.
 */
async function apply(sql: postgres.Sql, schema: string, version: string, text: string): Promise<void> {
  const { how, up } = readUp(text);
  const note = (on: postgres.ISql) => on`insert into schema_migrations (version) values (${version})`;
  if (how.includes('transaction:false')) {
    // an interrupted run leaves an invalid index behind
    const [, index] = /^create index concurrently (\w+)/m.exec(up) ?? [];
    if (index) await sql`drop index concurrently if exists ${sql(index)}`;
    await sql.unsafe(up);
    await note(sql);
  } else {
    await sql.begin(async (transaction) => {
      await transaction`
        select set_config('search_path', quote_ident(${schema}) || ', ' || current_setting('search_path'), true)`;
      await transaction.unsafe(up);
      await note(transaction);
    });
  }
}
