/** Small disks of Redis and of Postgres run full under load, and get room again by docs/runbooks.md. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '#libs/base/db/migrate';
import { mountSmallDisk } from '../../scripts/chaos/faults.ts';
import { type RunningPostgres, startPostgres } from '../../scripts/stack/postgres.ts';
import { type RunningRedis, startRedis } from '../../scripts/stack/redis.ts';
import { runCommand } from '../../scripts/stack/tether.ts';
import { atEnd } from '../support/at-end.ts';
import { createCli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { countStored } from '../support/counts.ts';
import { findPostgresClients } from '../support/postgres-clients.ts';
import { openRunbook, type Runbook } from '../support/runbook.ts';
import { startApiProcess, startWorkerProcess, type WorkerProcess } from '../support/service.ts';
import { at } from '../support/stack.ts';
import { recordSteadily } from '../support/steady.ts';
import { connectDatabase, makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const clients = await findPostgresClients();
const disks = clients === undefined ? [] : [mountSmallDisk('160m'), mountSmallDisk('48m')];
const [forPostgres, forRedis] = disks;
const ballast = '24M';
const password = 'as-the-compose-file-has-one';

/** All that is left. */
const fill = (folder: string) =>
  runCommand('dd', ['if=/dev/zero', `of=${path.join(folder, 'filler')}`, 'bs=64k'], { env: process.env });

describe.skipIf(!forPostgres || !forRedis)('a full disk (as root, who may mount one)', () => {
  const [postgresFolder, redisFolder] = [forPostgres, forRedis].map((disk) =>
    path.dirname(disk?.folder ?? '/nowhere/store'),
  ) as [string, string];
  let postgres: RunningPostgres;
  let redis: RunningRedis;
  let tenant: Tenant;
  let worker: WorkerProcess;
  let runbook: Runbook;
  let env: Record<string, string>;
  let steady: ReturnType<typeof recordSteadily>;

  const startOwnRedis = async (port?: number) => {
    const started = await startRedis({ dataDir: path.join(redisFolder, 'redis'), port });
    const client = new Redis(started.url);
    await client.config('SET', 'requirepass', password);
    client.disconnect();
    return started;
  };
  const startOwnPostgres = (port?: number) => startPostgres({ dataDir: path.join(postgresFolder, 'postgres'), port });

  beforeAll(async () => {
    atEnd(async () => {
      redis?.kill();
      await Promise.all([redis?.exited, postgres?.stop()]);
      for (const disk of disks) disk?.undo();
    });
    mkdirSync(path.join(redisFolder, 'redis'));
    [postgres, redis] = await Promise.all([startOwnPostgres(), startOwnRedis()]);
    await migrate(postgres.url);
    const { db } = connectDatabase(postgres.url);
    tenant = await makeTenant(db);
    const stores = { DATABASE_URL: postgres.url, REDIS_URL: `redis://:${password}@127.0.0.1:${redis.port}` };
    env = { ...stores, POSTGRES_FOLDER: postgresFolder, REDIS_FOLDER: redisFolder };
    const [api, started, opened] = await Promise.all([
      startApiProcess(stores),
      startWorkerProcess(stores),
      openRunbook('## A full disk'),
    ]);
    [worker, runbook] = [started, opened];
    await runbook.step('fallocate', env, { values: { '1G': ballast } });
    const client = createClient(api.baseUrl, tenant);
    steady = recordSteadily([{ client, domainId: at(tenant.domainIds, 0), apiKey: at(tenant.apiKeys, 0) }]);
    await steady.until('queued', 20);
  });

  it('of Redis: it ends, records go straight to Postgres, and come through Redis again', async () => {
    await fill(redisFolder);
    await steady.until('persisted', 20);
    await redis.exited;
    await runbook.step('df -h "$REDIS_FOLDER"', env);
    redis = await startOwnRedis(redis.port);
    await steady.until('queued', 20);
  });

  it('of Postgres: records wait in Redis, and all are stored', async () => {
    await fill(postgresFolder);
    await eventually(() => expect(worker.lines.join('\n')).toContain('No space left'));
    await eventually(async () =>
      expect(await (await fetch(`${worker.opsUrl}/readyz`)).json()).toMatchObject({ ready: false, postgres: false }),
    );
    await steady.until('queued', 20);
    expect(await createCli(env).json('queue', 'status')).toMatchObject({ failed: 0 });
    expect(await runbook.step('INFO memory', env)).toMatch(/^maxmemory_human:1\.00G/m);
    expect(await runbook.step('CONFIG SET', { ...env, NEW_MAXMEMORY: '2gb' })).toMatch(/^OK$/m);
    expect(await runbook.again('INFO memory', env)).toMatch(/^maxmemory_human:2\.00G/m);
    await runbook.step('pg_replication_slots', env);
    await runbook.step('df -h "$POSTGRES_FOLDER"', env);
    // one that could not write its write-ahead log has ended
    if (postgres.child.exitCode !== null) postgres = await startOwnPostgres(postgres.port);
    const recorded = await steady.stop();
    await runbook.step('queue status', env);
    const { db } = connectDatabase(postgres.url);
    expect(await countStored(db)).toBe(recorded.length);
  });

  it('has no other command', () => {
    expect(runbook.left()).toEqual([]);
  });
});
