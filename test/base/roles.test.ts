/** Who may do what in Postgres: each process no more than it needs, on a database that `migrate` arranged. */
import { randomBytes } from 'node:crypto';
import type postgres from 'postgres';
import { beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '#libs/base/db/migrate';
import { functions, rights, types } from '#libs/base/db/roles/rights';
import { lookAtSchema } from '#libs/base/db/schema';
import { blankOldMonths } from '#libs/privacy/blank-months';
import { expireMonth, isDerived } from '#libs/proof/expire';
import { dropMonth, listMonths, makeMonth } from '#libs/record/month-partitions';
import { persist } from '#libs/record/persist/persist';
import { deleteUnreferencedUserAgents, deleteUserAgentsOfGoneMonths } from '#libs/record/user-agent-deletion';
import { type App, loginAt } from '../../scripts/stack/logins.ts';
import { atOnce } from '../support/clock.ts';
import { connectAs, createEmptyDatabase } from '../support/database.ts';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { closeOpenEpoch } from '../support/sealing.ts';
import { sharedPostgresUrl } from '../support/shared.ts';
import { freshDatabase, makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const someName = (prefix: string) => `${prefix}_${randomBytes(6).toString('hex')}`;

describe('a database that was migrated', () => {
  let url: string;
  let sql: postgres.Sql;

  beforeAll(async () => {
    url = await freshDatabase();
    sql = connectAs(url);
  });

  const names = async (rows: Promise<{ name: string }[]>) => (await rows).map(({ name }) => name).sort();

  it('has its tables, functions and types named in the code, and the owner has them all', async () => {
    const tables = sql<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm') and not relispartition`;
    expect(await names(tables)).toEqual(Object.keys(rights).sort());
    const routines = sql<{ name: string }[]>`
      select distinct proname as name from pg_proc where pronamespace = 'public'::regnamespace`;
    expect(await names(routines)).toEqual([...functions.asOwner, ...functions.others].sort());
    const enums = sql<{ name: string }[]>`
      select typname as name from pg_type where typnamespace = 'public'::regnamespace and typtype = 'e'`;
    expect(await names(enums)).toEqual(types);
    const ofOthers = sql<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relowner <> 'assent_owner'::regrole
      union all
      select proname from pg_proc where pronamespace = 'public'::regnamespace and proowner <> 'assent_owner'::regrole`;
    expect(await names(ofOthers)).toEqual([]);
  });

  it('grants what the code says, and nothing to anybody else', async () => {
    const granted = await names(
      sql<{ name: string }[]>`
        with tables as (
          select oid, relname, relacl from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        )
        select concat_ws(' ', relname, grantee::regrole, lower(privilege_type)) as name
        from tables cross join aclexplode(relacl) where grantee <> 'assent_owner'::regrole
        union all
        select concat_ws(' ', relname, grantee::regrole, lower(privilege_type) || '(' || attname || ')')
        from tables join pg_attribute on attrelid = tables.oid cross join aclexplode(attacl)`,
    );
    const wanted = Object.entries(rights).flatMap(([table, { api, worker }]) => [
      ...api.map((right) => `${table} assent_api ${right}`),
      ...worker.map((right) => `${table} assent_worker ${right}`),
    ]);
    expect(granted).toEqual(wanted.sort());
  });

  const nobodyMay = [
    'drop table records',
    'drop table api_keys',
    'alter table records add column more text',
    'alter table log_keys owner to current_user',
    'truncate counters',
    'create table theirs (n integer)',
    'create role theirs',
    `copy (select 1) to program 'cat'`,
    `copy plans to '/tmp/theirs'`,
    `select pg_read_file('PG_VERSION')`,
    'delete from records',
    'delete from logs',
    'select from records_2020_01',
    `insert into schema_migrations values ('1')`,
    `update plans set monthly_record_limit = null`,
    'update administrative_acts set actor = $$nobody$$',
    'delete from administrative_acts',
    'do $$ begin lock table administrative_acts in share row exclusive mode; end $$',
    'insert into record_months (month) values ($$2020-02$$)',
  ];
  const refused: Record<App, string[]> = {
    api: [
      'insert into log_keys (domain_number, log, verifier_key) values (1, 1, $$mine$$)',
      'update log_keys set verifier_key = $$mine$$',
      'delete from log_keys',
      'update organizations set plan = $$other$$',
      'update organizations set tokens_since = null',
      'update organizations set cursor_key = $$$$',
      'update logs set checkpoint = $$mine$$',
      'update log_runs set leaves = $$$$',
      'insert into timestamps (root, size, token, stamped_at) values ($$$$, 1, $$$$, now())',
      'select from tasks',
      'set role assent_owner',
      'set role assent_worker',
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'assent'`,
    ],
    worker: [
      'select from api_keys',
      'select from revoked_tokens',
      'select from administrative_acts',
      'select from visitor_acts',
      'update organizations set tokens_since = null',
      'update domains set origins = default',
      'delete from domains',
      'delete from webhooks',
      'set role assent_api',
    ],
  };

  it.each(['api', 'worker'] as const)('refuses the %s what is not its work', async (app) => {
    await sql`select make_record_month('2020-01')`;
    const own = connectAs(loginAt(url, app));
    const outcomes = await Promise.all(
      [...nobodyMay, ...refused[app]].map(async (statement) => [
        statement,
        await own.unsafe(statement).then(
          () => 'done',
          (error) => error.code,
        ),
      ]),
    );
    expect(outcomes.filter(([, outcome]) => outcome !== '42501')).toEqual([]);
  });

  it.each([
    ['api', 'select on records'],
    ['worker', 'insert on records'],
    ['api', 'update (number) on organizations'],
  ] as const)('is not ready for the %s without one right: %s', async (app, right) => {
    const db = openPool(loginAt(url, app));
    const look = () => lookAtSchema(db, 20_000, app);
    expect(await look()).toBe('current');
    await sql.unsafe(`revoke ${right} from assent_${app}`);
    expect(await look()).toBe('forbidden');
    await sql.unsafe(`grant ${right} to assent_${app}`);
    expect(await look()).toBe('current');
  });

  it('lets both make months, and the worker alone drop them, also behind a pooler', async () => {
    const [api, worker, pooled] = [
      openPool(loginAt(url, 'api'), { max: 4 }),
      openPool(loginAt(url, 'worker'), { max: 4 }),
      openPool(loginAt(url, 'worker'), { max: 4, pooled: true }),
    ];
    expect(await api.run((own) => makeMonth(own, '2019-01'))).toBe(true);
    expect(await worker.run((own) => makeMonth(own, '2019-02'))).toBe(true);
    await expect(api.run((own) => dropMonth(own, '2019-01'))).rejects.toMatchObject({ code: '42501' });
    // what is derived from a month, and named in a log, is looked for in the month itself
    expect(await isDerived(worker, '2019-01', ['seal'])).toBe(true);
    await expireMonth(worker, '2019-01');
    expect(await worker.run((own) => dropMonth(own, '2019-01'))).toBe(true);
    expect(await pooled.run((own) => dropMonth(own, '2019-02'))).toBe(true);
    expect((await worker.run(listMonths)).filter((month) => month.startsWith('2019'))).toEqual([]);
    const left = await sql`select from pg_class where relname like 'records_2019%'`;
    expect(left).toHaveLength(0);
    // each connection has its own role again
    const roles = await worker.run((own) =>
      Promise.all([1, 2, 3, 4].map(() => own`select current_user = session_user as "isOwn", pg_sleep(0.05)`)),
    );
    expect(roles.flat().map(({ isOwn }) => isOwn)).toEqual([true, true, true, true]);
  });

  it("lets the worker blank a month's personal fields, and delete the user agents of it", async () => {
    const worker = openPool(loginAt(url, 'worker'));
    const { domainIds } = await makeTenant(openPool(url));
    const old = recordAt('2019-03-10T00:00:00Z', {
      domainId: domainIds[0] ?? '',
      source: 'import',
      visitorId: 'ann',
      userAgent: 'Rare/1.0',
    });
    await persist(worker, [old]);
    await closeOpenEpoch(worker);
    const blank = () =>
      blankOldMonths(worker, { personalRetentionMonths: 12, round: atOnce }, Date.now(), new AbortController().signal);
    await blank();
    expect(await sql`select visitor_id from records`).toMatchObject([{ visitor_id: null }]);
    expect(await blank()).toMatchObject({ records: 0 });
    await deleteUserAgentsOfGoneMonths(worker);
    await deleteUnreferencedUserAgents(worker);
    expect(await sql`select from user_agents where text = 'Rare/1.0'`).toHaveLength(0);
  });

  it('is given to another owner while all of it is read and written, and once more changes nothing', async () => {
    const prefix = someName('other');
    const [reader, other] = [connectAs(url), connectAs(url)];
    const tables = Object.keys(rights);
    await reader.unsafe(`begin; ${tables.map((table) => `select from ${table} limit 1`).join(';')}`);
    const migrating = migrate(url, { roles: { prefix, addresses: {} } });
    try {
      const waiting = () => other`
        select from pg_stat_activity where datname = current_database() and query like 'alter table%' and wait_event_type = 'Lock'`;
      await eventually(async () => expect(await waiting()).toHaveLength(1));
      for (const table of tables)
        await other.unsafe(`begin; set local lock_timeout = '5s'; lock table ${table} in row exclusive mode; commit`);
    } finally {
      await reader.unsafe('commit');
    }
    expect(await migrating).toMatch(
      /^made the roles .*\n.* owns the tables now\n.* have the rights of this release now\n$/,
    );
    const [owned] = await other`
      select count(*)::int as tables from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relowner <> ${`${prefix}_owner`}::regrole`;
    expect(owned).toEqual({ tables: 0 });
    expect(await migrate(url, { roles: { prefix, addresses: {} } })).toBe('');
  });
});

describe('a login that is no superuser', () => {
  /** With a database of its own that is empty. */
  const makeLogin = async (may: string) => {
    const [prefix, login, password] = [someName('few'), someName('login'), randomBytes(8).toString('hex')];
    const empty = new URL(await createEmptyDatabase(sharedPostgresUrl()));
    const admin = connectAs(empty.href);
    const [{ version = 0 } = {}] = await admin<{ version: number }[]>`
      select current_setting('server_version_num')::int as version`;
    await admin.unsafe(`create role ${login} login ${may} password '${password}'`);
    await admin.unsafe(`alter database ${empty.pathname.slice(1)} owner to ${login}`);
    // it may not inherit from the owner of the database
    await admin.unsafe(`alter schema public owner to ${login}`);
    Object.assign(empty, { username: login, password });
    const address = (app: string) => {
      const url = new URL(empty);
      Object.assign(url, { username: `${login}_${app}`, password: `${password}'"${app}` });
      return url.href;
    };
    const roles = { prefix, addresses: { api: address('api'), worker: address('worker') } };
    return { prefix, login, admin, version, empty, address, again: () => migrate(empty.href, { roles }) };
  };

  it('keeps its tables, and makes no logins, until it has what it would give to the owner', async () => {
    const { prefix, login, admin, version, empty, address, again } = await makeLogin('createrole noinherit');
    let migrated = await again();
    // who makes a role may give itself the rest since Postgres 16
    if (version < 160_000) {
      expect(migrated).toMatch(new RegExp(`may not arrange, .*what is in the schema for ${prefix}_owner`));
      expect(migrated).not.toContain('made the login');
      expect(await connectAs(empty.href)`select from records`).toHaveLength(0);
      await admin.unsafe(`alter role ${login} inherit`);
      migrated = await again();
    }
    expect(migrated).toContain(`${prefix}_owner owns the tables now\n`);
    expect(migrated).toContain(`made the login ${login}_api, a member of ${prefix}_api\n`);
    const [made] = await connectAs(address('api'))`select make_record_month('2020-02') as made`;
    expect(made).toEqual({ made: true });
  });

  it('migrates, says what is missing, and goes on from there once a superuser made it', async () => {
    const { prefix, login, admin, version, empty, address, again } = await makeLogin('');

    expect(await again()).toMatch(new RegExp(`may not arrange, so it stays as it is: the roles ${prefix}_owner, .*`));
    expect(await connectAs(empty.href)`select from records`).toHaveLength(0);
    const [single] = await connectAs(empty.href)`select make_record_month('2020-01') as made`;
    expect(single).toEqual({ made: true });

    const made = [
      `create role ${prefix}_owner`,
      `create role ${prefix}_keeper noinherit in role ${prefix}_owner`,
      `create role ${prefix}_worker in role ${prefix}_keeper, pg_read_all_stats, pg_signal_backend`,
      `create role ${prefix}_api`,
      `grant ${prefix}_owner to ${login}`,
      `alter role ${login} createrole`,
    ];
    for (const statement of made) await admin.unsafe(statement);
    // since Postgres 16 who creates roles may only give away those that it administers
    if (version >= 160_000)
      await admin.unsafe(`grant ${prefix}_api, ${prefix}_worker to ${login} with admin true, inherit false, set false`);
    const second = await again();
    expect(second).toContain(`${prefix}_owner owns the tables now\n`);
    expect(second).toContain(`made the login ${login}_api, a member of ${prefix}_api\n`);
    expect(second).not.toContain('may not arrange');
    const [months] = await connectAs(address('worker'))`select make_record_month('2020-02') as made`;
    expect(months).toEqual({ made: true });
    await expect(connectAs(address('api'))`delete from log_keys`).rejects.toMatchObject({ code: '42501' });
    expect(await again()).toBe('');
    // nor is anything missing where a superuser made the logins, too
    await admin.unsafe(`alter role ${login} nocreaterole`);
    expect(await again()).toBe('');
  });
});
