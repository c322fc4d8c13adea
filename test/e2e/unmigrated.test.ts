import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { expect, inject, it } from 'vitest';
import { request, tokenFor } from '../support/client.ts';
import { runCli, startApi } from '../support/service.ts';
import { freshDatabase, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

it('a database without its schema: not ready, 503 and one line that says what to do; then it is migrated', async () => {
  const url = new URL(inject('postgresUrl'));
  const name = `empty_${randomBytes(6).toString('hex')}`;
  const sql = postgres(url.toString().replace(/\?.*$/, ''), { max: 1, onnotice: () => {} });
  await sql.unsafe(`create database ${name} template template0`);
  await sql.end();
  url.pathname = `/${name}`;
  const redis = await openRedisServer();
  const env = { DATABASE_URL: url.toString(), REDIS_URL: redis.url };
  const api = await startApi(env);

  const ready = await fetch(`${api.opsUrl}/readyz`);
  expect(await ready.json()).toMatchObject({ postgres: false });
  const headers = { authorization: `Bearer ${tokenFor('org_x')}` };
  expect((await request(api.baseUrl, '/v1/organization', { headers })).status).toBe(503);
  const refused = await runCli(env, 'plan', 'list');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^the database has no schema.*npm run migrate\n$/);

  expect((await runCli(env, 'migrate')).code).toBe(0);
  await eventually(async () => {
    expect((await request(api.baseUrl, '/v1/organization', { headers })).status).toBe(401);
  });
});

it('a database with a migration older than our first: migrate says in one line what to do, and changes nothing', async () => {
  const url = await freshDatabase();
  const sql = postgres(url.replace(/\?.*$/, ''), { max: 1 });
  await sql`insert into schema_migrations values ('20260101000001')`;
  const versions = () => sql`select version from schema_migrations order by version`;
  const before = await versions();
  const { code, stdout, stderr } = await runCli({ DATABASE_URL: url }, 'migrate');
  expect({ code, stdout, versions: await versions() }).toEqual({ code: 1, stdout: '', versions: before });
  expect(stderr).toMatch(
    /^the database 127\.0\.0\.1:\d+\/test_\w+ has .*: nothing was changed, use an empty database\n$/,
  );
  await sql.end();
});
