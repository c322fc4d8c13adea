import postgres from 'postgres';
import { expect, it } from 'vitest';
import { startCheckout } from '../support/checkout.ts';

it('npm start, over a database with a migration older than our first, ends with one line that names its folders', async () => {
  const { databaseUrl, shell, stop } = await startCheckout();
  const sql = postgres(databaseUrl.replace(/\?.*$/, ''), { max: 1 });
  await sql`insert into schema_migrations values ('20260101000001')`;
  await sql.end();
  await stop();

  const { code, output } = await shell('npm start');
  expect(code, output).toBe(1);
  const line = output.trimEnd().split('\n').at(-1) ?? '';
  const told = /^The database in (\S+) has .*: nothing was changed\. .* remove (\S+) and (\S+)\.$/.exec(line);
  const [, database, postgresFolder, redisFolder] = told ?? [];
  expect(postgresFolder, output).toBe(database);
  const there = await shell(`test -d ${postgresFolder}/cluster && test -d ${redisFolder}/appendonlydir`);
  expect(there.code, line).toBe(0);
}, 120_000);
