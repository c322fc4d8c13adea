/** Another Postgres takes over by logical replication under load, by docs/runbooks.md: nothing is refused, nothing is lost. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '#libs/base/db/migrate';
import { type RunningPostgres, startPostgres } from '../../scripts/stack/postgres.ts';
import { atEnd } from '../support/at-end.ts';
import { createClient } from '../support/client.ts';
import { countRecords, countStored, storedCounters } from '../support/counts.ts';
import { findPostgresClients } from '../support/postgres-clients.ts';
import { recordAt } from '../support/records.ts';
import { type Rolling, startRolling } from '../support/rolling.ts';
import { openRunbook, type Runbook } from '../support/runbook.ts';
import { type Service, startWorkerProcess } from '../support/service.ts';
import { at, type StoreSettings, sealSettings, storeRecords } from '../support/stack.ts';
import { recordSteadily } from '../support/steady.ts';
import { connectDatabase, makeTenant, openRedisServer, type Tenant, type TestDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const clients = await findPostgresClients();
const settings = { fsync: 'off', wal_level: 'logical' };

describe.skipIf(clients === undefined)('a move to another Postgres (with the client programs of Postgres)', () => {
  let old: RunningPostgres;
  let fresh: RunningPostgres;
  let database: TestDatabase;
  let tenant: Tenant;
  let env: StoreSettings & Record<string, string>;
  let apis: Rolling;
  let worker: Service;
  let runbook: Runbook;
  let steady: ReturnType<typeof recordSteadily>;
  let urls: Record<string, string>;

  const stores = () => ({ db: database.db, env });
  const domainId = () => at(tenant.domainIds, 0);

  beforeAll(async () => {
    const folder = path.join(inject('folder'), 'moved');
    const start = (name: string) => startPostgres({ dataDir: path.join(folder, name), settings });
    const redis = openRedisServer();
    [old, fresh] = await Promise.all([start('old'), start('new')]);
    atEnd(async () => {
      await Promise.all([old.stop(), fresh.stop()]);
      for (const { dataDir } of [old, fresh]) rmSync(dataDir, { recursive: true, force: true });
    });
    await migrate(old.url);
    database = connectDatabase(old.url);
    tenant = await makeTenant(database.db);
    env = { DATABASE_URL: old.url, REDIS_URL: (await redis).url, ...sealSettings };
    urls = { ...env, NEW_DATABASE_URL: fresh.url };
    [apis, worker, runbook] = await Promise.all([
      startRolling(tenant, env),
      startWorkerProcess(env),
      openRunbook('## Move to another Postgres'),
    ]);
    const site = { client: apis.client, domainId: domainId(), apiKey: at(tenant.apiKeys, 0) };
    steady = recordSteadily([site], { every: 60 });
  });

  it('begins beside the running service', async () => {
    await steady.until('queued', 50);
    await storeRecords(stores(), [recordAt('2024-02-29T12:00:00Z', { domainId: domainId() })]);
    await runbook.step('create publication', urls);
    await runbook.step('pg_subscription_rel', urls);
    await steady.until('queued', 20);
  });

  it('is held up by a month that was made on the old side alone, and goes on', async () => {
    const late = recordAt('2031-01-15T12:00:00Z', { domainId: domainId() });
    await storeRecords(stores(), [late]);
    const { db } = connectDatabase(fresh.url);
    await eventually(async () => {
      const [row] = await db.run((sql) => sql`select apply_error_count > 0 as failed from pg_stat_subscription_stats`);
      expect(row?.failed).toBe(true);
    });
    await runbook.step('make_record_month', urls);
    await eventually(async () => expect(await countStored(db, [late.id])).toBe(1));
  });

  it('switches: records are taken, the log is read, and the new server has all', async () => {
    await worker.stop();
    await runbook.step('default_transaction_read_only', urls);
    await steady.until('queued', 20);
    expect((await createClient(apis.next().baseUrl, tenant).records(domainId())).status).toBe(200);
    await runbook.step('confirmed_flush_lsn', urls);
    expect(await runbook.step('drop subscription', urls)).toContain('(0 rows)');
    env = { ...env, DATABASE_URL: fresh.url };
    worker = await startWorkerProcess(env);
    await apis.restart(env);
    await steady.until('queued', 20);
    const recorded = await steady.stop();
    const { db } = connectDatabase(fresh.url);
    await eventually(async () => expect(await countStored(db)).toBe(recorded.length + 2));
    expect(await storedCounters(db, tenant.organizationId)).toEqual(await countRecords(db, tenant.organizationId));
    await runbook.step('log check', urls);
    // what needs a sequence
    expect((await makeTenant(db)).domainIds).toHaveLength(1);
  });

  it('lets one go back: the old server takes writes again', async () => {
    await runbook.step('alter system reset', urls);
    await eventually(async () => {
      const [row] = await connectDatabase(old.url).db.run((sql) => sql`show default_transaction_read_only`);
      expect(row).toEqual({ default_transaction_read_only: 'off' });
    });
  });

  it('has no other command', () => {
    expect(runbook.left()).toEqual([]);
  });
});
