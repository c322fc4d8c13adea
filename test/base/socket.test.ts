/** Postgres behind a Unix socket, in the spellings that libpq, drivers and hosts use. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { atEnd } from '../support/at-end.ts';
import { runCli } from '../support/run-cli.ts';
import { freshDatabase } from '../support/stores.ts';

it('migrations and commands reach it by each spelling', async () => {
  const server = new URL(await freshDatabase());
  // independent of TMPDIR, so that the path is short enough for a socket
  const folder = mkdtempSync('/tmp/assent-');
  atEnd(() => rmSync(folder, { recursive: true }));
  const socket = createServer((client) => {
    const onward = connect(Number(server.port), server.hostname);
    client.pipe(onward).on('error', () => client.destroy());
    onward.pipe(client).on('error', () => onward.destroy());
  });
  const { username, password, pathname } = server;
  const port = 5432;
  await new Promise<void>((resolve) => socket.listen(`${folder}/.s.PGSQL.${port}`, resolve));
  atEnd(() => socket.close());
  const login = `${username}:${password}`;
  const spellings = [
    `postgres://${login}@:${port}${pathname}?host=${folder}`,
    `postgresql://${login}@nowhere.invalid:${port}${pathname}?host=${encodeURIComponent(folder)}&sslmode=require`,
    `postgres://${login}@${encodeURIComponent(folder)}:${port}${pathname}`,
    `postgres://${pathname}?host=${folder}&port=${port}&user=${username}&password=${password}`,
  ];
  for (const DATABASE_URL of spellings)
    for (const command of ['migrate', 'plan list'])
      expect(await runCli({ DATABASE_URL }, ...command.split(' '))).toMatchObject({ code: 0, stderr: '' });
});
