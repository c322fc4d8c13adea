import { chownSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { persist } from '#libs/store/records/persist';
import { Advice } from '../../stack/advice.ts';
import { outputOf } from '../../stack/command.ts';
import { startPostgres } from '../../stack/postgres.ts';
import { findPostgresClients } from '../../stack/postgres-clients.ts';
import { reachableFolder, serviceUser } from '../../stack/service-user.ts';
import type { Figures, Round } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { makeRecord } from '../requests.ts';
import type { Stack } from '../stack.ts';

const rows = 1_000;
const writers = 2;
/** the last year */
const span = 360 * 86_400_000;

/** The commands of docs/runbooks.md, without the waits between them. The records are not sealed. */
export const restore: Measurement = {
  name: 'restore',
  about: 'a dump and a base backup of --records, and how long it takes until they are whole again',
  isLong: true,
  targets: {},
  figure: async (stack, { records }): Promise<Round> => {
    const clients = await findPostgresClients();
    if (clients === undefined) throw new Advice('pg_dump is missing, or older than the server: install it.');
    await fill(stack, records);
    const figures: Figures = { 'restore: records': { value: await stack.stored(), unit: '' } };
    const time = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const began = performance.now();
      const result = await work();
      figures[`restore: ${name}`] = { value: (performance.now() - began) / 1_000, unit: 's' };
      return result;
    };
    const user = serviceUser();
    const folder = reachableFolder(path.join(stack.folder, 'restored'), user, console.log);
    const run = (program: string, ...args: string[]) =>
      outputOf(path.join(clients, program), args, { cwd: folder, uid: user?.uid, gid: user?.gid, env: process.env });

    await time('pg_dump', () => run('pg_dump', '--format=custom', '--file=assent.dump', stack.databaseUrl));
    const dump = statSync(path.join(folder, 'assent.dump')).size;
    figures['restore: size of the dump'] = { value: dump / 1e6, unit: 'MB' };
    const restoredUrl = await makeDatabase(stack.databaseUrl);
    await time('pg_restore', async () => {
      await run('pg_restore', '--exit-on-error', '--no-owner', '--jobs=4', `--dbname=${restoredUrl}`, 'assent.dump');
      await run('psql', restoredUrl, '--command=analyze');
    });
    await stack.redis.flushall();
    await time('counters rebuild', () => stack.cli('counters', 'rebuild'));
    await time('counters check', () => stack.cli('counters', 'check'));

    const dataDir = path.join(folder, 'copy');
    mkdirSync(dataDir);
    if (user) chownSync(dataDir, user.uid, user.gid);
    const base = path.join(dataDir, 'cluster');
    await time('pg_basebackup', () =>
      run('pg_basebackup', `--dbname=${stack.databaseUrl}`, `--pgdata=${base}`, '--checkpoint=fast'),
    );
    await outputOf('cp', [path.join(stack.postgresFolder, 'password'), dataDir], { env: process.env });
    const copy = await time('start of its copy', () => startPostgres({ dataDir }));
    await copy.stop();
    return async () => figures;
  },
};

async function fill({ db, sites }: Stack, records: number): Promise<void> {
  const domainIds = sites.map(({ domainId }) => domainId);
  const first = Date.now() - span;
  let next = 0;
  const write = async () => {
    for (let from = next; from < records; from = next) {
      next += rows;
      const size = Math.min(rows, records - from);
      const batch = Array.from({ length: size }, (_, row) =>
        makeRecord(domainIds, from + row, first + (span * (from + row)) / records),
      );
      await persist(db, batch);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

async function makeDatabase(beside: string): Promise<string> {
  const sql = postgres(beside.replace(/\?.*$/, ''), { max: 1 });
  await sql`create database restored template template0`;
  await sql.end();
  const url = new URL(beside);
  url.pathname = '/restored';
  return url.toString();
}
