/** A Redis Cluster of three masters and three replicas, with TLS and passwords. */
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import calculateSlot from 'cluster-key-slot';
import { Cluster } from 'ioredis';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { requestRewrite, rewriteFile } from '#libs/base/redis/aof-rewrite';
import { connectRedis, type RedisConnection } from '#libs/base/redis/connection';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { recordQueue, shardOf } from '#libs/record/queue';
import { reconcile } from '#libs/stats/reconcile';
import { hashKey, readyKey } from '#libs/stats/redis-counters';
import { listMasters, ownerOf, type RedisCluster, startRedisCluster } from '../../scripts/stack/redis-groups.ts';
import { atEnd } from '../support/at-end.ts';
import { createCli } from '../support/cli.ts';
import { createClient, request, tokenFor } from '../support/client.ts';
import { quiet, readSame } from '../support/counter-stores.ts';
import { storedCounters } from '../support/counts.ts';
import { startReceiver } from '../support/receiver.ts';
import { type Service, startApiProcess, startWorkerProcess } from '../support/service.ts';
import { at, sealSettings } from '../support/stack.ts';
import { type Recorded, type Recording, recordSteadily } from '../support/steady.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const portsOf = ({ client }: RedisConnection) =>
  client instanceof Cluster ? client.nodes().map(({ options }) => options.port) : [];

const shards = 3;

interface Status {
  waiting: number;
  active: number;
  failed: number;
  shards: { shard: number; waiting: number }[];
}

let worker: Service;
const siteOf = (tenant: Tenant, api: string): Recording => ({
  client: createClient(api, tenant),
  domainId: at(tenant.domainIds, 0),
  apiKey: at(tenant.apiKeys, 0),
});
/** So many that each shard has one. */
async function tenantsOfEachShard(): Promise<Tenant[]> {
  const found: Tenant[] = [];
  while (new Set(found.map(({ organizationId }) => shardOf(organizationId, shards))).size < shards)
    found.push(await makeTenant(db));
  return found;
}

/** A node that a busy machine holds up for a while is not lost: what its replica does not have yet would be. */
const settings = { 'cluster-node-timeout': '6000' };

async function openRedisCluster(): Promise<RedisCluster> {
  const dataDir = mkdtempSync(path.join(inject('folder'), 'redis', 'cluster-'));
  const cluster = await startRedisCluster({ dataDir, settings });
  atEnd(() => cluster.stop());
  return cluster;
}

const [database, started] = await Promise.all([openDatabase(), openRedisCluster()]);
const cluster = started;
const { db } = database;
const env = {
  DATABASE_URL: database.url,
  ...cluster.env,
  QUEUE_SHARDS: String(shards),
  ...sealSettings,
  WEBHOOK_ALLOW_PRIVATE: 'true',
};
const cli = createCli(env);
const tenants = await tenantsOfEachShard();
const [api] = await Promise.all([startApiProcess(env), startWorkerProcess(env).then((started) => (worker = started))]);
const { baseUrl } = api;
const sites = tenants.map((tenant) => siteOf(tenant, baseUrl));
const connection = connectRedis(cluster.address, 'producer', { warn: () => {} });
atEnd(() => connection.close());
const receiver = await startReceiver();

describe('on a Redis Cluster', () => {
  /** Every acknowledged record is stored once, no other is, and Redis has the counts of all that are. */
  const expectAll = async (recorded: Recorded[]) => {
    const ids = recorded.map(({ id }) => id).toSorted();
    const stored = () =>
      db.run((sql) => sql<{ id: string }[]>`select id from records where id in ${sql(ids)} order by id`);
    const missing = async () => {
      const found = new Set((await stored()).map(({ id }) => id));
      return recorded.filter(({ id }) => !found.has(id));
    };
    await eventually(async () => expect(await missing()).toEqual([])).catch(async (cause: unknown) => {
      throw new Error(`records are missing; the queues: ${JSON.stringify(await status())}`, { cause });
    });
    expect((await stored()).map(({ id }) => id)).toEqual(ids);
    await eventually(async () => {
      for (const { organizationId } of tenants) {
        const truth = await storedCounters(db, organizationId);
        expect(await readSame(connection, organizationId, truth)).toEqual(truth);
      }
    });
  };
  const status = () => cli.json<Status>('queue', 'status');
  const today = () => dayOf(Date.now());

  it('records come through every shard, are counted, sealed and sent to webhooks', async () => {
    const [{ organizationId, domainIds }] = tenants as [Tenant];
    const made = await request(baseUrl, '/v1/organization/webhooks', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenFor(organizationId, { scope: 'read manage' })}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ url: receiver.url, types: ['records.sealed'] }),
    });
    expect(made.status).toBe(201);
    const begun = today();
    const steady = recordSteadily(sites);
    await steady.until('queued', 100);
    const recorded = await steady.stop();
    await expectAll(recorded);
    const wanted = recorded.filter(({ domainId }) => domainId === at(domainIds, 0));
    await eventually(() => {
      const bodies = receiver.received.map(({ body }) => body).join();
      expect(wanted.filter(({ id }) => !bodies.includes(id))).toEqual([]);
    });
    const range = `from=${begun}&to=${addDays(begun, 1)}`;
    await eventually(async () => {
      for (const { client, domainId } of sites) {
        const { body, headers } = await client.stats(domainId, range);
        const own = recorded.filter((each) => each.domainId === domainId).length;
        expect([body.total, headers.get('x-stats-source')]).toEqual([own, 'redis']);
      }
    });
  });

  it('counters that are wrong are found and put right, also by the command line', async () => {
    // it would see to it, too
    await worker.stop();
    const [tenant] = tenants as [Tenant];
    const { organizationId } = tenant;
    const day = today();
    const key = hashKey(organizationId, at(tenant.domainIds, 0), day.slice(0, 7));
    const truth = await storedCounters(db, organizationId);
    const isRight = async () => expect(await readSame(connection, organizationId, truth)).toEqual(truth);
    await connection.client.hset(key, day.slice(8), '9999 0 0 0');
    await reconcile({ redis: connection, db, ...quiet() }, new AbortController().signal, { patience: 100 });
    await isRight();
    await connection.client.del(key);
    await cli.json('counters', 'rebuild', '--org', organizationId);
    await isRight();
    expect((await cli.run('counters', 'check')).code).toBe(0);
  });

  it('QUEUE_SHARDS may change while jobs wait', async () => {
    await worker.stop();
    const steady = recordSteadily(sites);
    await eventually(async () => {
      const waiting = (await status()).shards.filter((each) => each.waiting > 0);
      expect(waiting.map(({ shard }) => shard)).toEqual([0, 1, 2]);
    });
    const before = await steady.stop();
    const [fewer] = await Promise.all([
      startApiProcess({ ...env, QUEUE_SHARDS: '2' }),
      startWorkerProcess({ ...env, QUEUE_SHARDS: '1' }).then((started) => (worker = started)),
    ]);
    const second = recordSteadily(tenants.map((tenant) => siteOf(tenant, fewer.baseUrl)));
    await second.until('queued', 20);
    await expectAll([...before, ...(await second.stop())]);
    await fewer.stop();
    await eventually(async () =>
      expect(await status()).toMatchObject({ waiting: 0, active: 0, failed: 0, shards: [{}, {}, {}] }),
    );
  });

  it('the append-only files of all nodes are rewritten, those of replicas too', async () => {
    const countRewrites = async (node: { url: string }) => {
      const client = cluster.connect(node);
      const stats = await client.info('commandstats').finally(() => client.disconnect());
      return Number(/^cmdstat_bgrewriteaof:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
    };
    // it would see to it, too
    await worker.stop();
    const before = await Promise.all(cluster.nodes.map(countRewrites));
    await eventually(() => expect(portsOf(connection)).toHaveLength(6));
    await connection.client.del('assent:rewritten');
    const wanted = String(await requestRewrite(connection.client));
    const noted = (field: string) => connection.client.hget('assent:rewrite', field);
    await eventually(async () => {
      await rewriteFile(connection.client);
      expect(await noted('begun')).toMatch(new RegExp(`^${wanted} `));
    });
    expect(await Promise.all(cluster.nodes.map(countRewrites))).toEqual(before.map((count) => count + 1));
    // whoever comes next sees it end, and knows the nodes in another order
    const { address } = cluster;
    const other = connectRedis({ ...address, clusterNodes: address.clusterNodes.toReversed() }, 'worker', {
      warn: () => {},
    });
    onTestFinished(() => other.close());
    await eventually(() => expect(portsOf(other)).toHaveLength(6));
    expect(portsOf(other)).not.toEqual(portsOf(connection));
    await eventually(async () => {
      await rewriteFile(other.client);
      expect(await noted('done')).toBe(wanted);
    });
    worker = await startWorkerProcess(env);
  });

  it('slots move while records come', async () => {
    const [{ organizationId }] = tenants as [Tenant];
    const shard = shardOf(organizationId, shards);
    const steady = recordSteadily(sites);
    await steady.until('queued', 20);
    for (const key of [readyKey(organizationId), recordQueue(shard)]) {
      const slot = calculateSlot(key);
      const before = await ownerOf(cluster, slot);
      // the scripts of the slot have to wait, so records go straight to Postgres if need be
      await moveSlot(cluster, slot, () => steady.until('queued', 5, { within: 20_000 }).catch(() => {}));
      // the node that is asked may not have heard of it yet
      await eventually(async () => expect((await ownerOf(cluster, slot)).id).not.toBe(before.id));
    }
    await steady.until('queued', 50);
    await expectAll(await steady.stop());
  });

  it('most masters are lost and return: a connection made meanwhile is tried again, and every shard goes on', async () => {
    const { client, close } = connectRedis(cluster.address, 'worker', { warn: () => {} });
    onTestFinished(close);
    await eventually(() => expect(client.status).toBe('ready'));
    const owners = await Promise.all([0, 16_383].map((slot) => ownerOf(cluster, slot)));
    const lost = new Set(owners.map(({ node }) => node));
    expect(lost.size).toBe(2);
    const other = await ownerOf(cluster, 8_191);
    expect(lost.has(other.node)).toBe(false);
    const left = cluster.connect(other.node);
    onTestFinished(() => left.disconnect());
    for (const node of lost) await node.kill();
    await eventually(async () => expect(String(await left.cluster('INFO'))).toContain('cluster_state:fail'));
    client.disconnect();
    await once(client, 'end');
    // BullMQ waits for this before it takes another job
    await expect(client.connect()).rejects.toThrow('closed before it was ready');
    for (const node of lost) await node.start();
    await eventually(() => expect(client.status).toBe('ready'));
    const steady = recordSteadily(sites);
    await steady.until('queued', 100);
    await expectAll(await steady.stop());
  });
});

const keysAtOnce = 20;
/** milliseconds that one MIGRATE may take */
const patience = 10_000;

/** Moves the slot to another master, key by key; `halfway` is called when some keys have moved and others have not. */
async function moveSlot(cluster: RedisCluster, slot: number, halfway?: () => Promise<unknown>): Promise<void> {
  const from = await ownerOf(cluster, slot);
  const to = (await listMasters(cluster)).find(({ id, ranges }) => id !== from.id && ranges.length > 0);
  if (!to) throw new Error('there is no other master');
  const set = ({ node }: typeof from, ...how: string[]) =>
    cluster.ask(node, 'CLUSTER', 'SETSLOT', String(slot), ...how);
  /** Returns how many keys it moved. */
  const migrate = async (most: number): Promise<number> => {
    const keys = await cluster.ask(from.node, 'CLUSTER', 'GETKEYSINSLOT', String(slot), String(most));
    if (!Array.isArray(keys) || keys.length === 0) return 0;
    const target = ['127.0.0.1', String(to.node.port), '', '0', String(patience), 'AUTH', cluster.password];
    await cluster.ask(from.node, 'MIGRATE', ...target, 'KEYS', ...keys.map(String));
    return keys.length;
  };
  await set(to, 'IMPORTING', from.id);
  await set(from, 'MIGRATING', to.id);
  await migrate(1);
  await halfway?.();
  while ((await migrate(keysAtOnce)) > 0);
  await set(to, 'NODE', to.id);
  await set(from, 'NODE', to.id);
}
