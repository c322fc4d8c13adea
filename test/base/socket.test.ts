/** Postgres behind a Unix socket, in the spellings that libpq, drivers and hosts use. */
import { chmodSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, it as test } from 'vitest';
import { startPostgres } from '../../scripts/stack/postgres.ts';
import { removeFolder } from '../../scripts/stack/service-user.ts';
import { atEnd } from '../support/at-end.ts';
import { runCli } from '../support/run-cli.ts';

test('migrations and commands reach it by each spelling', async () => {
  // whatever TMPDIR is: short enough for a socket, and reached by the user that Postgres runs as
  const folder = mkdtempSync('/tmp/assent-');
  chmodSync(folder, 0o777);
  atEnd(() => removeFolder(folder));
  const settings = { fsync: 'off', unix_socket_directories: folder };
  const server = await startPostgres({ dataDir: path.join(inject('folder'), 'by-socket'), settings });
  atEnd(() => server.stop());
  const { username, password, port } = new URL(server.url);
  const login = `${username}:${password}`;
  const spellings = [
    `postgres://${login}@:${port}/assent?host=${folder}`,
    `postgresql://${login}@nowhere.invalid:${port}/assent?host=${encodeURIComponent(folder)}&sslmode=require`,
    `postgres://${login}@${encodeURIComponent(folder)}:${port}/assent`,
    `postgres:///assent?host=${folder}&port=${port}&user=${username}&password=${password}`,
  ];
  for (const DATABASE_URL of spellings) {
    for (const command of [['migrate'], ['plan', 'list', '--json']])
      expect(await runCli({ DATABASE_URL }, ...command)).toMatchObject({ code: 0, stderr: '' });
  }
});
