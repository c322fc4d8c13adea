import { networkInterfaces } from 'node:os';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { connectRedis, type RedisAddress, type Role } from '#libs/base/redis/connection';
import { type RedisHealth, watchRedis } from '#libs/base/redis/health';
import { freePort } from '../../scripts/stack/ports.ts';
import type { RunningRedis } from '../../scripts/stack/redis.ts';
import { atEnd } from '../support/at-end.ts';
import { restartRedis } from '../support/outage.ts';
import { at } from '../support/stack.ts';
import { openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

function connect({ url }: RunningRedis): Redis {
  const client = new Redis(url);
  atEnd(() => client.disconnect());
  return client;
}

const hasIPv6 = Object.values(networkInterfaces()).some((found) => found?.some(({ address }) => address === '::1'));
const loopback = hasIPv6 ? '::1' : '127.0.0.1';

// each waits for probes, of servers of its own
describe.concurrent('the settings of Redis', () => {
  const watch = (address: RedisAddress, role: Role = 'producer'): { health: RedisHealth; warned: string[][] } => {
    const connection = connectRedis(address, role, { warn: () => {} });
    const warned: string[][] = [];
    const health = watchRedis(
      connection.client,
      () => {},
      (warnings) => warned.push(warnings),
      role,
    );
    atEnd(() => {
      health.close();
      return connection.close();
    });
    return { health, warned };
  };
  /** So many probes later. */
  const probes = async (client: Redis, count: number) => {
    const asked = async () => Number(/^cmdstat_info:calls=(\d+)/m.exec(await client.info('commandstats'))?.[1]);
    const before = await asked();
    // each of our own questions counts too
    let own = 0;
    await eventually(async () => {
      own += 1;
      expect((await asked()) - before - own).toBeGreaterThanOrEqual(count);
    });
  };
  const unlimited = expect.stringContaining('no maxmemory');
  const forgetting = expect.stringContaining('no append-only file');
  const evicting = expect.stringContaining('allkeys-lru');

  it('are reported once, and again when they become worse, while records go on', async () => {
    const server = await openRedisServer({ maxmemory: '0' });
    const client = connect(server);
    const { health, warned } = watch({ url: server.url, clusterNodes: [] });
    await health.usable();
    await probes(client, 2);
    expect(warned).toEqual([[unlimited]]);
    expect(health.warnings()).toEqual([unlimited]);
    // a probe may have taken too long
    const untilUsable = () => eventually(() => expect(health.reason()).toBeNull());
    await untilUsable();
    for (const [name, value, warnings] of [
      ['maxmemory-policy', 'allkeys-lru', [unlimited, evicting]],
      ['maxmemory', '1gb', [evicting]],
      ['maxmemory-policy', 'noeviction', []],
      ['appendonly', 'no', [forgetting]],
      ['appendonly', 'yes', []],
    ] as const) {
      await client.config('SET', name, value);
      await eventually(() => expect(health.warnings()).toEqual(warnings));
    }
    await probes(client, 2);
    expect(warned).toEqual([[unlimited], [unlimited, evicting], [evicting], [forgetting]]);
    await untilUsable();
  });

  it('are not guessed while it loads its data', async () => {
    const server = await openRedisServer();
    const { health, warned } = watch({ url: server.url, clusterNodes: [] });
    const pipeline = connect(server).pipeline();
    for (let key = 0; key < 8_000; key += 1) pipeline.set(String(key), '');
    await pipeline.exec();
    server.kill();
    await server.exited;
    const slow = restartRedis(server, { 'key-load-delay': '100' });
    await eventually(() => expect(health.reason()).toBe('loading its data'), { every: 10 });
    await connect(server).config('SET', 'key-load-delay', '0');
    await slow;
    await eventually(() => expect(health.reason()).toBeNull());
    expect([warned, health.warnings()]).toEqual([[], []]);
  });

  it('of its user count, too: without a right that the process needs, it is not usable', async () => {
    const server = await openRedisServer();
    const admin = connect(server);
    await admin.call('ACL', 'SETUSER', 'service', 'on', '>password', '~*', '+@all');
    const address = { url: server.url.replace('//', '//service:password@'), clusterNodes: [] };
    const [worker, api] = [watch(address, 'worker').health, watch(address, 'producer').health];
    const untilBoth = (ofWorker: unknown, ofApi: unknown) =>
      eventually(() => expect([worker.reason(), api.reason()]).toEqual([ofWorker, ofApi]));
    await untilBoth(null, null);
    for (const [taken, given, reason] of [
      ['-@scripting', '+@scripting', expect.stringMatching(/^NOPERM .*eval/)],
      ['-@hash', '+@hash', expect.stringMatching(/^its user may not run HGET /)],
      ['resetkeys', '~assent:*', expect.stringMatching(/^its user may not run .* keys that begin with assent:/)],
    ] as const) {
      await admin.call('ACL', 'SETUSER', 'service', taken);
      await untilBoth(reason, reason);
      await admin.call('ACL', 'SETUSER', 'service', given);
      await untilBoth(null, null);
    }
    await admin.call('ACL', 'SETUSER', 'service', '-bzpopmin');
    await untilBoth(expect.stringMatching(/^its user may not run BZPOPMIN /), null);
  });

  it('of a cluster are those of every master, by IPv6 where the machine has it', async () => {
    const settings = async () => ({
      bind: '127.0.0.1 -::1',
      'cluster-enabled': 'yes',
      'cluster-port': String(await freePort()),
      'cluster-announce-ip': loopback,
    });
    // again where another program has taken the second port meanwhile
    const start = () =>
      eventually(async () => {
        const own = await settings();
        return { ...(await openRedisServer(own)), busPort: own['cluster-port'] };
      });
    const servers = [await start(), await start()] as const;
    const masters = servers.map(connect);
    const [one, other] = [at(masters, 0), at(masters, 1)];
    await one.call('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
    await other.call('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
    await other.call('CLUSTER', 'SET-CONFIG-EPOCH', '2');
    await one.call('CLUSTER', 'MEET', loopback, String(servers[1].port), servers[1].busPort);
    await eventually(async () => {
      for (const master of masters) expect(await master.call('CLUSTER', 'INFO')).toContain('cluster_state:ok');
    });
    const node = `${hasIPv6 ? '[::1]' : loopback}:${servers[0].port}`;
    const { health } = watch({ url: servers[0].url, clusterNodes: [node] });
    await health.usable();
    expect(health.warnings()).toEqual([]);
    for (const master of masters) {
      await master.config('SET', 'maxmemory', '0');
      await eventually(() => expect(health.warnings()).toEqual([unlimited]));
      await master.config('SET', 'maxmemory', '1gb');
      await eventually(() => expect(health.warnings()).toEqual([]));
    }
  });
});
