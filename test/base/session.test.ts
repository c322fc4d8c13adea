/** A login whose defaults are the opposite of what our statements and the driver rely on. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { migrate } from '#libs/base/db/migrate';
import { lookAtSchema } from '#libs/base/db/schema';
import { connectAs, createEmptyDatabase } from '../support/database.ts';
import { openPool } from '../support/pool.ts';
import { runCli } from '../support/run-cli.ts';
import { startApi } from '../support/service.ts';
import { sharedPostgresUrl } from '../support/shared.ts';
import { openDatabase, openRedisServer } from '../support/stores.ts';

const opposites = {
  datestyle: 'SQL, DMY',
  intervalstyle: 'iso_8601',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  default_transaction_isolation: 'serializable',
  extra_float_digits: '-15',
  client_encoding: 'latin1',
  timezone: 'Asia/Kathmandu',
};

/** The address of that database for a new login with these defaults. */
async function withLogin(url: string, groups: string, settings: Record<string, string>): Promise<string> {
  const login = `odd_${randomBytes(4).toString('hex')}`;
  await openPool(url).run(async (sql) => {
    await sql.unsafe(`create role ${login} login password 'odd' in role ${groups}`);
    for (const [name, value] of Object.entries(settings))
      await sql.unsafe(`alter role ${login} set ${name} = ${name === 'search_path' ? value : `'${value}'`}`);
  });
  const address = new URL(url);
  [address.username, address.password] = [login, 'odd'];
  return address.toString();
}

it('a connection has the formats, the encoding and the isolation that statements rely on, also behind a pooler', async () => {
  const { url } = await openDatabase();
  const odd = await withLogin(url, 'assent_api', opposites);
  for (const pooled of [false, true]) {
    const db = openPool(odd, { pooled });
    const read = () =>
      db.run((sql) =>
        sql.begin(
          (transaction) => transaction<Record<string, unknown>[]>`
            select '2026-11-06T01:02:03Z'::timestamptz::text as time, interval '1 day'::text as span,
              '\\x00ff'::bytea as bytes, (0.1::float8 + 0.2::float8)::text as float, ${'Đ\\'}::text as text,
              current_setting('transaction_isolation') as isolation`,
        ),
      );
    expect(await read()).toEqual([
      {
        time: '2026-11-06 01:02:03+00',
        span: '1 day',
        bytes: Buffer.from([0, 255]),
        float: '0.30000000000000004',
        text: 'Đ\\',
        isolation: 'read committed',
      },
    ]);
  }
});

it('migrations work with such defaults, and fail with a reason, without a second schema, for a login that looks into another one', async () => {
  const url = await createEmptyDatabase(sharedPostgresUrl());
  const group = `odd_group_${randomBytes(4).toString('hex')}`;
  const owner = openPool(url);
  await owner.run((sql) => sql.unsafe(`create role ${group}; grant create on schema public to ${group}`));
  const odd = await withLogin(url, group, opposites);
  expect(await migrate(odd, { patience: 20_000 })).toContain('Applied: ');
  expect(await lookAtSchema(openPool(odd), 20_000, 'api')).toBe('current');

  const lost = await withLogin(url, group, { search_path: 'elsewhere' });
  const message =
    /^the tables are in the schema public, and the search_path of this login is elsewhere: alter role odd_/;
  await expect(migrate(lost)).rejects.toThrow(message);
  expect(await lookAtSchema(openPool(lost), 20_000, 'api')).toBe('elsewhere');
  const { stderr } = await runCli({ DATABASE_URL: lost }, 'plan', 'list');
  expect(stderr).toMatch(message);
  const redis = await openRedisServer();
  const api = await startApi({ DATABASE_URL: lost, REDIS_URL: redis.url });
  expect((await api.logged('tables_elsewhere')).msg).toMatch(message);
});

it('beside another application: tables of ours that it hides are reported, and its own stay as they are', async () => {
  const url = await createEmptyDatabase(sharedPostgresUrl());
  const admin = connectAs(url);
  await migrate(url);
  const odd = await withLogin(url, 'assent_api', { search_path: 'legacy, public' });
  await admin.unsafe(`
    create schema legacy; create table legacy.records (id integer);
    create table legacy.schema_migrations (version varchar); insert into legacy.schema_migrations values ('20190101000000');
    grant usage on schema legacy to public; grant select on all tables in schema legacy to public`);
  const look = () => lookAtSchema(openPool(odd, { max: 1 }), 20_000, 'api');
  const migrating = () => migrate(url, { patience: 20_000 });
  const [database] = await admin<{ name: string }[]>`select quote_ident(current_database()) as name`;
  await admin.unsafe(`alter database ${database?.name} set search_path = legacy, public`);
  const message =
    /^the tables are in the schema public, and the search_path of this login is legacy, public: alter role \w+ set search_path = public$/;
  for (const hidden of ['schema_migrations', 'records']) {
    await expect(migrating()).rejects.toThrow(message);
    expect(await look()).toBe('elsewhere');
    await admin.unsafe(`alter table legacy.${hidden} rename to their_${hidden}`);
  }
  const owners = await admin`
    select from pg_class where relnamespace = 'legacy'::regnamespace and relowner <> current_user::regrole`;
  expect(owners.count).toBe(0);

  // nothing of ours is hidden: it is found where it is
  await admin`revoke select on public.records from assent_api`;
  expect(await look()).toBe('forbidden');
  expect(await migrating()).toContain('have the rights of this release now');
  expect([await look(), await migrating()]).toEqual(['current', '']);
});
