import { readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { migrate } from '#libs/base/db/migrate';
import { freePort } from '../../scripts/stack/ports.ts';
import { atEnd } from '../support/at-end.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { openGate } from '../support/gate.ts';
import { sharedPostgresUrl } from '../support/shared.ts';
import { freshDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const folder = new URL('../../libs/base/db/migrations/', import.meta.url);
const files = readdirSync(folder).sort();
const versions = files.map((file) => file.split('_')[0]);
/** The last one of 0.1.0. What comes after it meets databases at work. */
const lastOfFirstRelease = '20261125000002_webhooks.sql';

const open = (url: string) => {
  const address = new URL(url);
  address.searchParams.delete('sslmode');
  const sql = postgres(address.toString(), { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
  return sql;
};

const schemaOf = async (sql: postgres.Sql) => ({
  versions: (await sql`select version from schema_migrations order by version`).map(({ version }) => version),
  columns: (
    await sql`
      select table_name, column_name, data_type, is_nullable from information_schema.columns
      where table_schema = 'public' and table_name !~ '^records_\\d' order by table_name, ordinal_position`
  ).map((column) => Object.values(column).join(' ')),
});

const emptyDatabase = () => createEmptyDatabase(sharedPostgresUrl());

/** Where nobody listens, nor comes to: others take their ports on 127.0.0.1. */
const nobodyAt = async (url: string): Promise<URL> => {
  const address = new URL(url);
  [address.hostname, address.port] = ['127.0.0.2', String(await freePort())];
  return address;
};

const url = await emptyDatabase();

describe('migrate', () => {
  it('three at once on an empty database all succeed and leave one schema, and another changes nothing', async () => {
    await Promise.all(Array.from({ length: 3 }, () => migrate(url)));
    const sql = open(url);
    const schema = await schemaOf(sql);
    expect(schema.versions).toEqual(versions);
    expect(schema).toEqual(await schemaOf(open(await freshDatabase())));
    expect(await migrate(url)).toBe('');
    expect(await schemaOf(sql)).toEqual(schema);
  });

  it('makes an index anew that one before was cut off at', async () => {
    const sql = open(url);
    const [file = ''] = files.filter((each) =>
      readFileSync(new URL(each, folder), 'utf8').includes('index concurrently'),
    );
    const [, index = ''] = /create index concurrently (\w+)/.exec(readFileSync(new URL(file, folder), 'utf8')) ?? [];
    await sql`delete from schema_migrations where version = ${file.split('_')[0] ?? ''}`;
    await sql`update pg_index set indisvalid = false where indexrelid = ${index}::regclass`;
    expect(await migrate(url)).toContain(`Applied: ${file}`);
    expect(await sql`select indisvalid from pg_index where indexrelid = ${index}::regclass`).toEqual([
      { indisvalid: true },
    ]);
  });

  it('leaves no lock behind, and gives up where another one holds it for too long', async () => {
    const sql = open(url);
    const locks = () => sql`
      select from pg_locks join pg_database on pg_database.oid = database
      where locktype = 'advisory' and datname = current_database()`;
    expect(await locks()).toHaveLength(0);
    await sql`select pg_advisory_lock(hashtext('assent.migrate'))`;
    await expect(migrate(url, { patience: 2_000 })).rejects.toThrow(/another migration/);
    await sql`select pg_advisory_unlock(hashtext('assent.migrate'))`;
    await migrate(url);
  });

  it('waits for a server that is not there yet, says so once, and gives up after its patience', async () => {
    const there = new URL(url);
    const later = await nobodyAt(url);
    await expect(migrate(later.toString(), { patience: 450 })).rejects.toThrow(/ECONNREFUSED/);
    const said: string[] = [];
    const say = (line: string) => {
      said.push(line);
      const server = createServer((socket) => socket.pipe(connect(Number(there.port), there.hostname)).pipe(socket));
      server.listen(Number(later.port), later.hostname);
      atEnd(() => server.close());
    };
    expect(await migrate(later.toString(), { say })).toBe('');
    expect(said).toEqual(['Postgres does not answer yet, waiting for up to 60 s']);
  });

  it('does not wait longer for a server that ends every connection', async () => {
    const gate = await openGate(url);
    gate.shut();
    await expect(migrate(gate.url, { patience: 300 })).rejects.toThrow(/no answer within 300 ms|CONN/);
  });

  it('waits no longer altogether where a server comes that does not answer', async () => {
    const later = await nobodyAt(url);
    const say = () => {
      const server = createServer();
      server.listen(Number(later.port), later.hostname);
      atEnd(() => server.close());
    };
    const error = await migrate(later.toString(), { patience: 3_000, say }).catch(String);
    const [, waited] = /no answer within (\d+) ms/.exec(error) ?? [];
    expect(Number(waited), error).toBeLessThanOrEqual(2_500);
  });

  it('does not wait for TLS where there is none', async () => {
    const secured = new URL(url);
    secured.searchParams.set('sslmode', 'require');
    const said: string[] = [];
    const say = (line: string) => said.push(line);
    await expect(migrate(secured.toString(), { patience: 5_000, say })).rejects.toThrow(/before secure TLS/);
    expect(said).toEqual([]);
  });

  it('tells what went wrong', async () => {
    const nowhere = new URL(url);
    nowhere.pathname = '/no_such_database';
    await expect(migrate(nowhere.toString())).rejects.toThrow(/no_such_database/);
  });

  it.each([
    ['nothing else', emptyDatabase],
    ['ours as well', freshDatabase],
  ])('refuses a migration older than our first, beside %s, and changes nothing', async (_, make) => {
    const old = await make();
    const sql = open(old);
    await sql`create table if not exists schema_migrations (version varchar primary key)`;
    await sql`insert into schema_migrations values ('20260101000001')`;
    await sql`create table of_before as select 1 as n`;
    const before = await schemaOf(sql);
    const { host, pathname } = new URL(old);
    await expect(migrate(old)).rejects.toThrow(`the database ${host}${pathname} has a schema from before the first`);
    expect(await schemaOf(sql)).toEqual(before);
  });
});

describe('each migration since the first release', () => {
  const readUp = (file: string) => {
    const [, up = ''] = readFileSync(new URL(file, folder), 'utf8').split('-- migrate:up');
    return up.slice(up.indexOf('\n')).split('-- migrate:down')[0] ?? '';
  };

  const isInTransaction = (file: string) =>
    !readFileSync(new URL(file, folder), 'utf8').includes('-- migrate:up transaction:false');

  it('that waits for a long transaction that reads keeps nobody else waiting', async () => {
    const url = await emptyDatabase();
    const [reader, migrator, other] = [open(url), open(url), open(url)];
    for (const file of files.filter((each) => each <= lastOfFirstRelease)) await migrator.unsafe(readUp(file));
    const waited: string[] = [];
    for (const file of files.filter((each) => each > lastOfFirstRelease)) {
      const tables = await other<{ name: string }[]>`
        select tablename as name from pg_tables where schemaname = 'public' order by 1`;
      await reader.unsafe(`begin; ${tables.map(({ name }) => `select from "${name}" limit 1`).join(';')}`);
      let isDone = false;
      const up = readUp(file);
      const migrating = migrator.unsafe(isInTransaction(file) ? `begin; ${up}; commit` : up).then(() => {
        isDone = true;
      });
      try {
        await eventually(async () => {
          const waiting = await other`
            select from pg_stat_activity
            where datname = current_database() and (wait_event_type = 'Lock' or wait_event = 'PgSleep')`;
          expect(isDone || waiting.count > 0).toBe(true);
        });
        if (!isDone) waited.push(file);
        // as whoever writes there, but far more patient
        for (let round = 0; round < 3 && !isDone; round += 1)
          for (const { name } of tables)
            await other.unsafe(
              `begin; set local lock_timeout = '5s'; lock table "${name}" in row exclusive mode; commit`,
            );
      } finally {
        await reader.unsafe('commit');
        await migrating;
      }
    }
    expect(waited).toContain('20261126000001_managing.sql');
  });
});
