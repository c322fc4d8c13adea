/**
 * Migrations by dbmate, one process at a time: dbmate itself takes no lock, and a blocking lock would hang
 * `create index concurrently`, so an advisory lock is polled around it. It belongs to a transaction, because a pooler may
 * give a session's lock to another client. Indexes of `records` follow, see record-indexes.ts.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { resolveBinary } from 'dbmate';
import postgres from 'postgres';
import { readAddress } from './address.ts';
import { advise } from './errors.ts';
import { buildRecordIndexes } from './record-indexes.ts';
import { type Arrangement, arrangeRoles } from './roles/arrange.ts';
import { withDefaultRights } from './roles/grants.ts';
import { roleNames } from './roles/roles.ts';
import { migrationsFolder, versions } from './schema.ts';
import { tablesElsewhere } from './search-path.ts';
import { isolation, sessionBasics } from './session.ts';
import { untilAnswers, type Waiting } from './until-answers.ts';

interface Options extends Waiting {
  /** a file of certificates (PEM) that are trusted beside the public ones, where the address names none */
  moreCertificates: string | undefined;
  roles: Arrangement;
}

/**
 * `patience` is for a server that starts, and again for another migration. What the migrations make is used by roles, which
 * are made with it where this login may, see roles/arrange.ts. Resolves to what was done, a line each.
 */
export function migrate(
  databaseUrl: string,
  { patience = 60_000, say = () => {}, moreCertificates, roles = ofDefaultPrefix }: Partial<Options> = {},
): Promise<string> {
  return withConnections(databaseUrl, async (sql) => {
    await untilAnswers(sql, { patience, say });
    // with another level it would keep a snapshot, for which `create index concurrently` waits
    return sql.begin(`isolation level ${isolation}`, async (holder) => {
      // this transaction waits for all the others
      await holder`set local idle_in_transaction_session_timeout = 0`;
      await holdLock(holder, patience);
      if (await hasOlderMigration(sql)) throw new Error(tooOld(databaseUrl));
      await checkPlace(sql);
      return withDefaultRights(sql, roleNames(roles.prefix), async () => {
        const output = await runDbmate(databaseUrl, moreCertificates);
        const lines = [...(await buildRecordIndexes(sql)), ...(await arrangeRoles(sql, roles))];
        return [output, ...lines.map((line) => `${line}\n`)].join('');
      });
    });
  });
}

const ofDefaultPrefix: Arrangement = { prefix: 'assent', addresses: {} };

/** Whether a migration was applied that is older than our first: no migration leads from there to our schema. */
export const isTooOld = (databaseUrl: string): Promise<boolean> => withConnections(databaseUrl, hasOlderMigration);

/** What a pooler, too, takes at the start of a session. */
const connection = { ...sessionBasics };

/** Two: one holds the lock while the other works. */
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

async function hasOlderMigration(sql: postgres.Sql): Promise<boolean> {
  const [table] = await sql`select where to_regclass('schema_migrations') is not null`;
  if (!table) return false;
  const [first = ''] = versions;
  const [older] = await sql`select from schema_migrations where version::text collate "C" < ${first} limit 1`;
  return older !== undefined;
}

/** Otherwise a second, empty schema would be made, or one that cannot keep every language. */
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

async function holdLock(holder: postgres.TransactionSql, patience: number): Promise<void> {
  const end = performance.now() + patience;
  while (performance.now() < end) {
    // otherwise the connection would keep the statement's snapshot, for which `create index concurrently` waits
    const [row] = await holder<{ held: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtext('assent.migrate')) as held`.simple();
    if (row?.held) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`another migration has been running for ${patience / 1000} s`);
}

async function runDbmate(databaseUrl: string, moreCertificates: string | undefined): Promise<string> {
  const args = ['--migrations-dir', migrationsFolder, '--no-dump-schema', 'migrate'];
  const folder = mkdtempSync(path.join(tmpdir(), 'assent-'));
  try {
    const env = { DATABASE_URL: addressForDbmate(databaseUrl, folder, moreCertificates), PATH: '/usr/bin:/bin' };
    const { stdout } = await promisify(execFile)(resolveBinary(), args, { env, cwd: migrationsFolder });
    return stdout;
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(output || (error instanceof Error ? error.message : String(error)), { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Where the address says nothing of TLS, we connect without and dbmate demands it: both do without. Where it names no
 * certificates, we trust those of Node and dbmate those of the system, which may have none: dbmate gets ours, by a file in
 * `folder`. With `sslsni` its driver would check the host's name in every mode, and without `binary_parameters` prepare a
 * statement in one transaction and execute it in the next.
 */
function addressForDbmate(databaseUrl: string, folder: string, moreCertificates: string | undefined): string {
  const address = new URL(databaseUrl);
  const { searchParams: query } = address;
  const mode = query.has('host') ? 'disable' : (query.get('sslmode') ?? 'disable');
  const given = query.get('sslrootcert');
  const rootFile =
    given !== null ? path.resolve(given) : mode.startsWith('verify-') && writeTrusted(folder, moreCertificates);
  query.set('sslmode', mode);
  if (rootFile) query.set('sslrootcert', rootFile);
  if (rootFile && mode !== 'verify-full') query.set('sslsni', '0');
  query.set('binary_parameters', 'yes');
  query.set('standard_conforming_strings', sessionBasics.standard_conforming_strings);
  return address.toString();
}

function writeTrusted(folder: string, more: string | undefined): string {
  const file = path.join(folder, 'trusted.pem');
  writeFileSync(file, [...rootCertificates, ...(more ? [readMore(more)] : [])].join('\n'));
  return file;
}

function readMore(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`NODE_EXTRA_CA_CERTS names a file that cannot be read: ${file}`, { cause: error });
  }
}
