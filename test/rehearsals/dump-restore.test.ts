/** The dump of docs/runbooks.md and its restore, over records of several organizations, domains and months. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { migrate } from '#libs/base/db/migrate';
import { decisions } from '#libs/base/terms/terms';
import { readPage } from '#libs/log/domain-page';
import { persist } from '#libs/record/persist/persist';
import { persistOrReject } from '#libs/record/store';
import { runCommand } from '../../scripts/stack/tether.ts';
import { type Cli, createCli } from '../support/cli.ts';
import { countRecords, storedCounters } from '../support/counts.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { blocksIn, sectionOf } from '../support/documents.ts';
import { openPool } from '../support/pool.ts';
import { findPostgresClients } from '../support/postgres-clients.ts';
import { recordAt } from '../support/records.ts';
import { page, serviceFile } from '../support/runbook.ts';
import { sharedPostgresUrl } from '../support/shared.ts';
import { at, type OwnStores, openStores, storeRecords } from '../support/stack.ts';
import { makeTenant, openRedisServer, type Tenant } from '../support/stores.ts';

const clients = await findPostgresClients();

/** Their lines in the runbook, in order. */
const commands = ['### A dump', '### 2. Restore Postgres elsewhere'].map(
  (heading) => blocksIn(page, sectionOf(page, heading)).find(({ language }) => language === 'sh')?.text,
);

/** Rows and a hash of every table, whatever its columns are. */
const contentOf = (db: Database) =>
  db.run(async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`;
    const contents: Record<string, unknown> = {};
    for (const { name } of tables) {
      const [content] = await sql`
        select count(*) as rows, md5(string_agg(row, ' ' order by row)) as hash
        from (select md5(t::text) as row from ${sql(name)} as t) as rows`;
      contents[name] = { ...content };
    }
    return contents;
  });

/** who owns each table and function, and what others may do with it */
const rightsOf = async (db: Database) =>
  db.run(
    (sql) => sql`
      select relname as name, relowner::regrole::text as owner, grantee::regrole::text, privilege_type as "right"
      from pg_class left join lateral aclexplode(relacl) on true
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      union all
      select proname, proowner::regrole::text, grantee::regrole::text, privilege_type || prosecdef
      from pg_proc left join lateral aclexplode(proacl) on true where pronamespace = 'public'::regnamespace
      union all
      select attname, '', grantee::regrole::text, privilege_type
      from pg_attribute cross join aclexplode(attacl)
      where attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
      order by 1, 2, 3, 4`,
  );

/** Their months, and the present one. */
const times = ['2023-02-01T00:00:00Z', '2024-02-29T23:59:59Z', '2025-12-31T12:00:00Z', '2026-01-01T00:00:00Z'];

describe.skipIf(clients === undefined)('a dump that is restored (with a pg_dump as new as the server)', () => {
  let source: OwnStores;
  let tenants: Tenant[];
  let restored: Database;
  let restoredUrl: string;

  const recordsOf = ({ domainIds }: Tenant, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const time = [...times.map(Date.parse), Date.now()][index % 5] ?? 0;
      return recordAt(time + index, {
        domainId: at(domainIds, (index % 3) % domainIds.length),
        decision: at(decisions, index % 4),
        visitorId: `visitor-${index % 50}`,
        preferences: { necessary: true, analytics: index % 2 === 0 },
        userAgent: `Browser ${index % 7} "ü\\\t"`,
        pageUrl: 'https://example.com/\u{1f36a}',
        metadata: { text: 'a\nb', number: 0.1 },
        bot: index % 11 === 0,
      });
    });

  beforeAll(async () => {
    source = await openStores();
    tenants = await Promise.all([1, 2, 3].map((domains) => makeTenant(source.db, { domains })));
    for (const tenant of tenants) await storeRecords(source, recordsOf(tenant, 1_000));
    await persistOrReject(source.db, [recordAt(Date.now(), { domainId: 'nobodys' })]);

    restoredUrl = await createEmptyDatabase(sharedPostgresUrl());
    const cwd = mkdtempSync(path.join(inject('folder'), 'dump-'));
    const PGSERVICEFILE = path.join(cwd, 'pg_service.conf');
    writeFileSync(PGSERVICEFILE, serviceFile({ DATABASE_URL: source.env.DATABASE_URL, RESTORED_URL: restoredUrl }));
    const script = commands.join('\nDUMP=$(ls *.dump)\n').replaceAll('/backup/assent', '.');
    const { code, output } = await runCommand('/bin/sh', ['-ec', script], {
      cwd,
      env: { PATH: `${clients}${path.delimiter}${process.env.PATH}`, PGSERVICEFILE },
    });
    expect([code, output]).toEqual([0, expect.not.stringContaining('WARNING')]);
    restored = openPool(restoredUrl, { max: 4 });
  });

  it('has the same rows', async () => {
    const content = await contentOf(source.db);
    expect(content).toMatchObject({ records: { rows: 3_000 }, domains: { rows: 6 }, rejected_records: { rows: 1 } });
    expect(await contentOf(restored)).toEqual(content);
  });

  it('is what migrate makes: it mends who may do what, since roles do not come with a dump, and changes nothing else', async () => {
    const before = await contentOf(restored);
    expect(await rightsOf(restored)).not.toEqual(await rightsOf(source.db));
    expect(await migrate(restoredUrl)).toMatch(/^assent_owner owns the tables now\n.* have the rights .*\n$/);
    expect(await contentOf(restored)).toEqual(before);
    expect(await rightsOf(restored)).toEqual(await rightsOf(source.db));
    expect(await migrate(restoredUrl)).toBe('');
  });

  const check = async (cli: Cli) => (await cli.run('counters', 'check')).code;

  const expectRepair = async (cli: Cli) => {
    expect(await check(cli)).toBe(1);
    expect(await cli.json('counters', 'rebuild')).toEqual({ rebuilt: 3 });
    expect(await check(cli)).toBe(0);
  };

  it('agrees with the Redis of before; one that is empty, or ahead, is repaired', async () => {
    await expectRepair(createCli({ DATABASE_URL: restoredUrl, REDIS_URL: (await openRedisServer()).url }));
    const cli = createCli({ ...source.env, DATABASE_URL: restoredUrl });
    expect(await check(cli)).toBe(0);
    await storeRecords(source, recordsOf(at(tenants, 0), 20));
    await expectRepair(cli);
  });

  it('knows what it has stored, and goes on: records, months, organizations, domains, acts', async () => {
    const tenant = at(tenants, 2);
    const { organizationId, domainIds } = tenant;
    const again = await restored.run((sql) =>
      readPage(sql, { organizationId, domainId: at(domainIds, 0), limit: 100, offset: 0 }),
    );
    const known = again.records.map(({ id }) => recordAt(0, { id, domainId: at(domainIds, 0) }));
    expect((await persist(restored, known)).added).toBe(0);

    const fresh = await makeTenant(restored, { domains: 2 });
    const inNewMonth = recordAt('2020-06-15T12:00:00Z', { domainId: at(fresh.domainIds, 1) });
    expect((await persist(restored, [...recordsOf(fresh, 200), inNewMonth])).added).toBe(201);
    expect((await persist(restored, recordsOf(tenant, 200))).added).toBe(200);
    for (const each of [organizationId, fresh.organizationId])
      expect(await storedCounters(restored, each)).toEqual(await countRecords(restored, each));

    const [made] = await restored.run((sql) => sql`select make_record_month('2019-01') as made`);
    expect(made).toEqual({ made: true });
    expect(await persistOrReject(restored, [recordAt(Date.now(), { domainId: 'nobodys' })])).toMatchObject({
      rejected: 1,
    });
    expect(await contentOf(restored)).toMatchObject({ rejected_records: { rows: 2 } });
  });
});
