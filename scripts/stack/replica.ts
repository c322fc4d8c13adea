/** A streaming replica of a private Postgres: a copy of its folder, made while it runs, that follows it from there on. */
import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { onConnection, type RunningPostgres, startPostgres } from './postgres.ts';
import type { ServerOptions } from './server.ts';
import { reachableFolder, type ServiceUser, serviceUser, writeFor } from './service-user.ts';
import { runCommand } from './tether.ts';

interface ReplicaOptions extends ServerOptions {
  /** with `wal_keep_size`, where it is busy: the replica begins where the copy began */
  primary: RunningPostgres;
  /** its `application_name`, which `synchronous_standby_names` may name */
  name?: string;
  /** the port by which it reaches the primary, if another */
  through?: number;
}

/** `settings`: as those of the primary, where they are limits such as `max_connections`. */
export async function startReplica(options: ReplicaOptions): Promise<RunningPostgres> {
  const { primary, name = 'replica', through = primary.port, ...others } = options;
  const user = serviceUser();
  const dataDir = reachableFolder(path.resolve(options.dataDir), user, options.say);
  const cluster = path.join(dataDir, 'cluster');
  const label = await copy(primary, cluster, user);
  for (const folder of ['pg_wal', 'pg_replslot']) empty(path.join(cluster, folder));
  rmSync(path.join(cluster, 'postmaster.pid'), { force: true });
  const { username, password } = new URL(primary.url);
  const connection = `host=127.0.0.1 port=${through} user=${username} password=${password} application_name=${name}`;
  appendFileSync(path.join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`);
  writeFor(user, path.join(cluster, 'backup_label'), label);
  writeFor(user, path.join(cluster, 'standby.signal'), '');
  writeFor(user, path.join(dataDir, 'password'), readFileSync(path.join(primary.dataDir, 'password')));
  return startPostgres({ ...others, dataDir });
}

/** Returns what Postgres wants to read beside the copy: where its WAL begins. */
const copy = ({ url, dataDir }: RunningPostgres, cluster: string, user: ServiceUser | undefined): Promise<string> =>
  onConnection(url.replace(/\?.*$/, ''), {}, async (sql) => {
    await sql`select pg_backup_start('replica', fast => true)`;
    const options = { ...user, cwd: dataDir };
    const { code, output } = await runCommand('cp', ['-a', path.join(dataDir, 'cluster'), cluster], options);
    // files may go while they are copied; the WAL has what became of them
    const isWhole = code === 0 || output.split('\n').every((line) => line === '' || /No such file/.test(line));
    if (!isWhole) throw new Error(`the folder of Postgres could not be copied: ${output}`);
    const [stopped] = await sql<{ label: string }[]>`
      select labelfile as label from pg_backup_stop(wait_for_archive => false)`;
    return stopped?.label ?? '';
  });

function empty(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isFile() || folder.endsWith('pg_replslot')) rmSync(path.join(folder, entry.name), { recursive: true });
}
