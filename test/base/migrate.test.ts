import { readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type postgres from 'postgres';
import { describe, expect, it, vi } from 'vitest';
import { migrate, readUp } from '#libs/base/db/migrate';
import { freePort } from '../../scripts/stack/ports.ts';
import { atEnd } from '../support/at-end.ts';
import { connectAs, createEmptyDatabase } from '../support/database.ts';
import { openGate } from '../support/gate.ts';
import { sharedPostgresUrl } from '../support/shared.ts';
import { freshDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const folder = new URL('../../libs/base/db/migrations/', import.meta.url);
const files = readdirSync(folder).sort();
const versions = files.map((file) => file.split('_')[0]);
/** The last one of 0.1.0. What comes after it meets databases at work. */
const lastOfFirstRelease = '20261125000002_webhooks.sql';

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
    const sql = connectAs(url);
    const schema = await schemaOf(sql);
    expect(schema.versions).toEqual(versions);
    expect(schema).toEqual(await schemaOf(connectAs(await freshDatabase())));
    expect(await migrate(url)).toBe('');
    expect(await schemaOf(sql)).toEqual(schema);
  });

  it('rebuilds an index that an interrupted run left behind', async () => {
    const sql = connectAs(url);
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
    const sql = connectAs(url);
    const locks = () => sql`
      select from pg_locks join pg_database on pg_database.oid = database
      where locktype = 'advisory' and datname = current_database()`;
    expect(await locks()).toHaveLength(0);
    await sql`select pg_advisory_lock(hashtext('assent.migrate'))`;
    // a busy machine may take longer to connect
    await eventually(() => expect(migrate(url, { patience: 300 })).rejects.toThrow(/another migration/));
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
    expect(said).toEqual(['Postgres does not respond yet, waiting for up to 60 s']);
  });

  it('does not wait longer for a server that ends every connection', async () => {
    const gate = await openGate(url);
    gate.shut();
    await expect(migrate(gate.url, { patience: 300 })).rejects.toThrow(/no response within 300 ms|CONN/);
  });

  it('waits no longer in total if a server does not respond', async () => {
    const later = await nobodyAt(url);
    const say = () => {
      const server = createServer();
      server.listen(Number(later.port), later.hostname);
      atEnd(() => server.close());
    };
    const error = await migrate(later.toString(), { patience: 1_500, say }).catch(String);
    const [, waited] = /no response within (\d+) ms/.exec(error) ?? [];
    expect(Number(waited), error).toBeLessThanOrEqual(1_000);
  });

  it.each<[string, string, string, RegExp]>([
    ['TLS where there is none', '/assent', '?sslmode=require', /before secure TLS/],
    ['a database that is not there', '/no_such_database', '', /no_such_database/],
  ])('does not wait for %s', async (_, pathname, search, message) => {
    const say = vi.fn();
    await expect(migrate(new URL(pathname + search, url).href, { say })).rejects.toThrow(message);
    expect(say).not.toHaveBeenCalled();
  });

  it('refuses a migration older than our first, also beside ours, and changes nothing', async () => {
    const old = await freshDatabase();
    const sql = connectAs(old);
    await sql`insert into schema_migrations values ('20260101000001')`;
    const before = await schemaOf(sql);
    const { host, pathname } = new URL(old);
    await expect(migrate(old)).rejects.toThrow(`the database ${host}${pathname} has a schema from before the first`);
    expect(await schemaOf(sql)).toEqual(before);
  });
});

describe('each migration since the first release', () => {
  it('that waits for a long transaction that reads keeps nobody else waiting', async () => {
    const url = await emptyDatabase();
    const [reader, migrator, other] = [connectAs(url), connectAs(url), connectAs(url)];
    const read = (file: string) => readUp(readFileSync(new URL(file, folder), 'utf8'));
    for (const file of files.filter((each) => each <= lastOfFirstRelease)) await migrator.unsafe(read(file).up);
    const waited: string[] = [];
    for (const file of files.filter((each) => each > lastOfFirstRelease)) {
      const tables = await other<{ name: string }[]>`
        select tablename as name from pg_tables where schemaname = 'public' order by 1`;
      await reader.unsafe(`begin; ${tables.map(({ name }) => `select from "${name}" limit 1`).join(';')}`);
      let isDone = false;
      const { how, up } = read(file);
      const migrating = migrator.unsafe(how.includes('transaction:false') ? up : `begin; ${up}; commit`).then(() => {
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
        // as processes that write there, but with far more patience
        const write = (name: string) =>
          `begin; set local lock_timeout = '5s'; lock table "${name}" in row exclusive mode; commit`;
        const all = tables.map(({ name }) => write(name)).join(';');
        for (let round = 0; round < 3 && !isDone; round += 1) await other.unsafe(all);
      } finally {
        await reader.unsafe('commit');
        await migrating;
      }
    }
    expect(waited).toContain('20261126000001_managing.sql');
  });
});
