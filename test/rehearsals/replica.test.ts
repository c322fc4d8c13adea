/** An API that reads from a streaming replica, which lags, stops, dies and comes back. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import type { Database, Reads } from '#libs/base/db/database';
import { migrate } from '#libs/base/db/migrate';
import { createReplica } from '#libs/base/db/replica';
import { closeEpoch, createClosing, listInTheWay } from '#libs/epochs/closing';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { persistOrReject } from '#libs/record/store';
import { openReplica } from '../../apps/api/replica.ts';
import { readApiConfig } from '../../apps/settings/api.ts';
import { stoodStill } from '../../scripts/chaos/load.ts';
import { type RunningPostgres, startPostgres } from '../../scripts/stack/postgres.ts';
import { startReplica } from '../../scripts/stack/replica.ts';
import { atEnd } from '../support/at-end.ts';
import { createClient } from '../support/client.ts';
import { openGate } from '../support/gate.ts';
import { sampleOf } from '../support/metrics.ts';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { startApiProcess } from '../support/service.ts';
import { at } from '../support/stack.ts';
import { connectDatabase, makeTenant, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const settings = { fsync: 'off', max_standby_streaming_delay: '100ms', wal_retrieve_retry_interval: '200ms' };
/** seconds; looks at both servers are up to 1.5 s apart while one is silent, and a busy machine adds to that */
const maxLag = 6;

const folder = path.join(inject('folder'), 'replicated');
const redis = openRedisServer();
let primary = await startPostgres({ dataDir: path.join(folder, 'primary'), settings });
await migrate(primary.url);
let replica = await startReplica({ primary, dataDir: path.join(folder, 'replica'), settings });
atEnd(async () => {
  await Promise.all([primary.stop(), replica.stop()]);
  for (const { dataDir } of [primary, replica]) rmSync(dataDir, { recursive: true, force: true });
});
const { db } = connectDatabase(primary.url);
const { db: onReplica } = connectDatabase(replica.url);
const tenant = await makeTenant(db);
const env = { DATABASE_URL: primary.url, DATABASE_READ_URL: replica.url, DATABASE_READ_MAX_LAG: String(maxLag) };
const api = await startApiProcess({ ...env, REDIS_URL: (await redis).url });
const client = createClient(api.baseUrl, tenant);

describe('with a replica the log', () => {
  let stored = 0;

  const domainId = () => at(tenant.domainIds, 0);
  const store = async (): Promise<string> => {
    const record = recordAt(Date.now(), { domainId: domainId() });
    await persist(db, [record], { owe: true });
    stored += 1;
    return record.id;
  };
  const total = async () => {
    const started = performance.now();
    const { status, body } = await client.records(domainId());
    expect([status, performance.now() - started < 5_000]).toEqual([200, true]);
    return body.total;
  };
  const readiness = async () => {
    const response = await fetch(`${api.opsUrl}/readyz`);
    return { status: response.status, ...((await response.json()) as { replica: boolean | string }) };
  };
  const untilReplicaIs = (state: boolean | string) =>
    eventually(async () => expect(await readiness()).toMatchObject({ status: 200, replica: state }));
  const gauge = (name: string) => sampleOf(api.opsUrl, name);
  const replay = (how: 'pause' | 'resume') =>
    onReplica.run((sql) => sql.unsafe(`select pg_wal_replay_${how}()`).then(() => {}));
  const untilReplayed = () =>
    eventually(async () => {
      const [row] = await onReplica.run((sql) => sql`select count(*) from records`);
      expect(row).toEqual({ count: stored });
    });
  /** All of its processes: the connections that it has, too, answer nothing. */
  const signal = (name: 'STOP' | 'CONT', server = replica) => {
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(server.pid)], { encoding: 'utf8' });
    for (const pid of [server.pid, ...stdout.trim().split(/\s+/).map(Number)]) process.kill(pid, `SIG${name}`);
  };
  const set = async (on: Database, name: string, value: string) => {
    await on.run((sql) => sql.unsafe(`alter system set ${name} = '${value}'`));
    await on.run((sql) => sql`select pg_reload_conf()`);
  };
  const setSynchronous = (names: string) => set(db, 'synchronous_standby_names', names);
  const untilSynchronous = () =>
    eventually(async () => {
      const rows = await db.run((sql) => sql`select from pg_stat_replication where sync_state = 'sync'`);
      expect(rows).toHaveLength(1);
    });
  const startAgain = ({ dataDir, port }: RunningPostgres) => startPostgres({ dataDir, port, settings });
  /** For longer than it may lag every page is answered, and in a moment: not after a primary that does not answer. */
  const staysInUse = async () => {
    const begun = performance.now();
    while (performance.now() - begun < (maxLag + 1) * 1_000) {
      const started = performance.now();
      expect(await total()).toBe(stored);
      expect(performance.now() - started - stoodStill(started)).toBeLessThan(2_000);
    }
    expect(await readiness()).toMatchObject({ status: 200, postgres: false, replica: true });
  };

  it('is read from it, and may lag', async () => {
    await store();
    await untilReplayed();
    await untilReplicaIs(true);
    expect(await gauge('assent_replica_used')).toBe(1);
    // on a connection of its own it does not wait for those of the requests
    const asking = await db.run(
      (sql) => sql`select count(*) from pg_stat_activity where application_name = 'assent-api-position'`,
    );
    expect(asking).toEqual([{ count: 1 }]);
    await replay('pause');
    const id = await store();
    expect(await total()).toBe(stored - 1);
    // what the replica does not have is asked of the primary
    expect((await client.get(`/v1/consent/${domainId()}/records/${id}`)).status).toBe(200);
  });

  it('is read from the primary as soon as it lags too far, until it has caught up', async () => {
    await untilReplicaIs('it lags');
    expect(await total()).toBe(stored);
    await eventually(async () => {
      expect(await gauge('assent_replica_used')).toBe(0);
      expect(await gauge('assent_replica_lag_seconds')).toBeGreaterThan(maxLag);
    });
    await replay('resume');
    await untilReplicaIs(true);
    expect(await total()).toBe(stored);
  });

  it('is read from the primary while it is frozen, within the time of one answer', async () => {
    signal('STOP');
    await store();
    try {
      expect(await total()).toBe(stored);
      await untilReplicaIs('it does not respond');
      expect(await total()).toBe(stored);
    } finally {
      signal('CONT');
    }
    await untilReplicaIs(true);
  });

  it.each(['stop', 'kill'] as const)(
    'is read from the primary after a %s of the replica, and from it when it is back',
    async (how) => {
      await replica[how]();
      await replica.exited;
      await store();
      expect(await total()).toBe(stored);
      await untilReplicaIs('it does not respond');
      replica = await startAgain(replica);
      await untilReplicaIs(true);
      await untilReplayed();
      expect(await total()).toBe(stored);
    },
  );

  it('is read from it while the primary is frozen, and after the primary was killed', async () => {
    await untilReplayed();
    signal('STOP', primary);
    try {
      await staysInUse();
    } finally {
      signal('CONT', primary);
    }
    await store();
    await untilReplayed();
    primary.kill();
    await primary.exited;
    await staysInUse();
    primary = await startAgain(primary);
    await store();
    await untilReplayed();
    await untilReplicaIs(true);
  });

  it('is read from it also where the primary is so far away that connecting takes longer than a question may', async () => {
    const { url: far } = await openGate(primary.url, { delay: 150 });
    const config = readApiConfig({
      DATABASE_URL: far,
      DATABASE_READ_URL: replica.url,
      REDIS_URL: 'redis://none',
      JWT_SECRET: 'of-the-test-and-thirty-two-bytes',
    });
    const log = { info: () => {}, warn: () => {} };
    const distant = openReplica(config, { primary: db, connections: 1, log, onLook: () => {} });
    if (!distant) throw new Error('no replica');
    atEnd(distant.close);
    await distant.follow();
    expect(distant.reason()).toBe('it lags');
    await eventually(() => expect(distant.reason()).toBeNull());
  });

  it('is read from the primary where what has to be replayed cancels a statement', async () => {
    const lines: unknown[] = [];
    const log = { info: (...line: unknown[]) => lines.push(line), warn: (...line: unknown[]) => lines.push(line) };
    const conflicting = createReplica({
      primary: db,
      position: connectDatabase(primary.url).db,
      replica: onReplica,
      maxLag: 60_000,
      log,
      onLook: () => {},
    });
    atEnd(conflicting.close);
    await db.run((sql) => sql`create table changing (n integer)`);
    await eventually(() => onReplica.run((sql) => sql`select from changing`));
    await conflicting.follow();
    await eventually(() => expect(conflicting.reason()).toBeNull());
    const servers: boolean[] = [];
    const answer = conflicting.reads.forOneAnswer();
    await answer.read(
      async (sql) => {
        const [row] = await sql`select pg_is_in_recovery() as "isReplica", count(*) from changing`;
        servers.push(row?.isReplica);
        if (row?.isReplica) await db.run((other) => other`alter table changing add column m integer`);
        await sql`select pg_sleep(${row?.isReplica ? 10 : 0})`;
      },
      { snapshot: true },
    );
    expect(servers).toEqual([true, false]);
    expect(conflicting.reason()).toBeNull();
    // the rest of that answer is read from the primary too, and the next answer is not
    const isReplica = (from: Reads) => from.read((sql) => sql`select pg_is_in_recovery() as "isReplica"`);
    expect(await isReplica(answer)).toEqual([{ isReplica: false }]);
    expect(await isReplica(conflicting.reads)).toEqual([{ isReplica: true }]);
  });

  it('has what counts as stored where it is synchronous, also what an attempt stored whose wait for it was ended', async () => {
    // not the API, which now and then notes who has read
    const waiting = () =>
      db.run(
        (sql) => sql<{ pid: number }[]>`
          select pid from pg_stat_activity where wait_event = 'SyncRep' and application_name = 'assent-test'`,
      );
    const untilOneWaits = () =>
      eventually(async () => {
        const [one, ...others] = await waiting();
        if (!one || others.length > 0) throw new Error('not one waits');
        return one.pid;
      });
    const record = recordAt(Date.now(), { domainId: domainId() });
    const refused = recordAt(Date.now(), { domainId: domainId(), receivedAt: 'yesterday-ish' });
    const isOn = async (on: Database) => {
      const [found] = await on.run(
        (sql) => sql<{ stored: boolean; kept: boolean }[]>`
          select exists (select from records where id = ${record.id}) as stored,
            exists (select from rejected_records where record like ${`%${refused.id}%`}) as kept`,
      );
      return found;
    };
    await setSynchronous('replica');
    await untilSynchronous();
    await replica.stop();
    await replica.exited;
    const ended: string[] = [];
    const own = openPool(primary.url, { name: 'assent-test' });
    const attempt = (records: NewRecord[]) =>
      persistOrReject(own, records).then(
        ({ added, rejected }) => ended.push(`${added} stored, ${rejected} rejected`),
        () => ended.push('failed'),
      );
    const log = { warn: () => {}, error: (line: { event?: string }) => ended.push(line.event ?? '') };
    const close = createClosing({ db, log, pace: 500, endAfterSeconds: 0.01 });
    const end = (pid: number) => db.run((sql) => sql`select pg_terminate_backend(${pid})`);

    const first = attempt([record]);
    const storing = await untilOneWaits();
    // it keeps the epoch open, and is not ended for that
    await close();
    expect(await db.run(listInTheWay)).toMatchObject([{ pid: storing, waitsForStandby: true }]);
    expect([await untilOneWaits(), ended]).toEqual([storing, []]);
    await end(storing);
    await first;
    const rejecting = attempt([refused]);
    await end(await untilOneWaits());
    await rejecting;
    expect([await isOn(db), ended.splice(0)]).toEqual([{ stored: true, kept: true }, ['failed', 'failed']]);

    const again = [attempt([record]), attempt([refused])];
    await eventually(async () => expect(await waiting()).toHaveLength(2));
    expect(ended).toEqual([]);
    replica = await startAgain(replica);
    await Promise.all(again);
    await setSynchronous('');
    expect(ended.toSorted()).toEqual(['0 stored, 0 rejected', '0 stored, 1 rejected']);
    await eventually(async () => expect(await isOn(onReplica)).toEqual({ stored: true, kept: true }));
  });

  it('makes nobody who records wait for whoever closes epochs where it is synchronous and each commit takes a second', async () => {
    const { port } = new URL((await openGate(primary.url, { delay: 700 })).url);
    const [own] = await onReplica.run(
      (sql) => sql<{ conninfo: string }[]>`
      select current_setting('primary_conninfo') as conninfo`,
    );
    await set(onReplica, 'primary_conninfo', String(own?.conninfo).replace(/port=\d+/, `port=${port}`));
    await eventually(async () => {
      const [row] = await onReplica.run((sql) => sql`select sender_port, status from pg_stat_wal_receiver`);
      expect(row).toEqual({ sender_port: Number(port), status: 'streaming' });
    });
    // the first one that a release closes is waited for
    await eventually(async () => expect(await closeEpoch(db, { pace: 0, patience: 5_000 })).toBe('closed'));
    // counters of one organization are changed by one commit at a time
    const tenants = await Promise.all(Array.from({ length: 4 }, () => makeTenant(db)));
    await setSynchronous('replica');
    await untilSynchronous();
    const recording = openPool(primary.url, { max: 10, name: 'assent-test' });
    let [isOver, closed] = [false, 0];
    const closing = async () => {
      while (!isOver) if ((await closeEpoch(db, { pace: 0, patience: 5_000 })) === 'closed') closed += 1;
    };
    const seen = new Set<string>();
    const watching = async () => {
      while (!isOver) {
        const waits = await db.run(
          (sql) => sql<{ wait: string }[]>`
          select coalesce(wait_event, '') as wait from pg_stat_activity
          where application_name = 'assent-test' and state = 'active'`,
        );
        for (const { wait } of waits) seen.add(wait);
      }
    };
    const around = Promise.all([closing(), watching()]);
    const added = await Promise.all(
      tenants.map(async ({ domainIds }) => {
        let sum = 0;
        for (let count = 0; count < 8; count += 1)
          sum += (await persist(recording, [recordAt(Date.now(), { domainId: at(domainIds, 0) })], { owe: true }))
            .added;
        return sum;
      }),
    ).finally(() => {
      isOver = true;
    });
    await around;
    await setSynchronous('');
    expect(added).toEqual([8, 8, 8, 8]);
    expect(closed).toBeGreaterThan(1);
    expect([seen.has('SyncRep'), seen.has('advisory')]).toEqual([true, false]);
  });
});
