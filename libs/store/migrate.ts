/**
 * Migrations by dbmate, one process at a time: dbmate itself takes no lock, and a blocking lock would hang
 * `create index concurrently`, so an advisory lock is polled around it.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { resolveBinary } from 'dbmate';
import postgres from 'postgres';

const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url));

export async function migrate(databaseUrl: string, { patience = 60_000 } = {}): Promise<string> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {}, connect_timeout: 10 });
  try {
    await holdLock(sql, patience);
    return await runDbmate(databaseUrl);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function holdLock(sql: postgres.Sql, patience: number): Promise<void> {
  const end = performance.now() + patience;
  while (performance.now() < end) {
    const [row] = await sql<{ held: boolean }[]>`select pg_try_advisory_lock(hashtext('assent.migrate')) as held`;
    if (row?.held) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`another migration has been running for ${patience / 1000} s`);
}

async function runDbmate(databaseUrl: string): Promise<string> {
  const args = ['--migrations-dir', migrationsFolder, '--no-dump-schema', 'migrate'];
  const env = { DATABASE_URL: withSslMode(databaseUrl), PATH: '/usr/bin:/bin' };
  try {
    const { stdout } = await promisify(execFile)(resolveBinary(), args, { env, cwd: migrationsFolder });
    return stdout;
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(output || (error instanceof Error ? error.message : String(error)), { cause: error });
  }
}

/** Where the address says nothing of TLS, the driver connects without and dbmate demands it: both do without. */
function withSslMode(databaseUrl: string): string {
  const address = new URL(databaseUrl);
  if (!address.searchParams.has('sslmode')) address.searchParams.set('sslmode', 'disable');
  return address.toString();
}
