/** A private Redis with one replica, and three sentinels over them that promote it: all with TLS and passwords. */
import { randomBytes } from 'node:crypto';
import type { RedisAddress } from '#libs/base/redis/connection';
import { startAll } from './private-stores.ts';
import type { Secured } from './redis.ts';
import { createGroup, type GroupOptions } from './redis-group.ts';
import { succeeds, untilTrue } from './wait.ts';

export type RedisSentinels = Awaited<ReturnType<typeof startRedisSentinels>>;

/** by which the sentinels know it */
const master = 'assent';
const host = '127.0.0.1';
const watchers = 3;
const quorum = 2;
/** Milliseconds: longer than the sentinels take to promote the replica, and to say so. */
const pause = 5_000;

const settings = { 'repl-diskless-sync-delay': '0' };

export const startRedisSentinels = (options: GroupOptions) =>
  startAll(async (onStop) => {
    const { certificate, startOne, startAgainable, ask } = await createGroup(options, host, onStop);
    const withPassword = (): Secured => ({ certificate, password: randomBytes(24).toString('hex') });
    const [secured, securedSentinels] = [withPassword(), withPassword()];
    // after its first start the sentinels say what it is
    const startServer = (name: string, more: Record<string, string> = {}) =>
      startAgainable(name, { secured, settings: { ...settings, ...options.settings, ...more } });
    const first = await startServer('server-0');
    const servers = [first, await startServer('server-1', { replicaof: `${host} ${first.port}` })];
    const sentinel = [
      `sentinel monitor ${master} ${host} ${first.port} ${quorum}`,
      `sentinel auth-pass ${master} ${secured.password}`,
      // milliseconds without an answer until a sentinel takes it for lost
      `sentinel down-after-milliseconds ${master} 1500`,
      `sentinel failover-timeout ${master} 5000`,
      `sentinel sentinel-pass ${securedSentinels.password}`,
    ];
    const sentinels = await Promise.all(
      Array.from({ length: watchers }, (_, index) =>
        startOne(`sentinel-${index}`, { secured: securedSentinels, sentinel }),
      ),
    );
    const askEach = (...command: [string, ...string[]]) => Promise.all(sentinels.map((each) => ask(each, ...command)));
    await untilTrue(async () => {
      const infos = (await askEach('INFO', 'sentinel')).map(String);
      return infos.every((info) => info.includes('status=ok') && info.includes(`slaves=1,sentinels=${watchers}`));
    }, 'the sentinels find each other');
    const nodes = sentinels.map(({ port }) => `${host}:${port}`);
    const url = `rediss://:${secured.password}@${host}`;
    const address: RedisAddress = {
      url,
      clusterNodes: [],
      sentinels: { nodes, master, password: securedSentinels.password },
      ca: certificate.cert,
    };
    /** for the API, the worker and the command line */
    const env = {
      REDIS_URL: url,
      REDIS_SENTINELS: nodes.join(),
      REDIS_SENTINEL_MASTER: master,
      REDIS_SENTINEL_PASSWORD: securedSentinels.password,
      NODE_EXTRA_CA_CERTS: certificate.certFile,
    };
    /** The server that most sentinels take for the master. */
    const findMaster = async () => {
      const named = await askEach('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master);
      const ports = named.map((place) => (Array.isArray(place) ? Number(place[1]) : 0));
      return servers.find(({ port }) => ports.filter((each) => each === port).length >= quorum);
    };
    /** Whether the master has its replica, so that it may be replaced. */
    const hasReplica = async () => {
      const now = await findMaster();
      return now !== undefined && String(await ask(now, 'INFO', 'replication')).includes('state=online');
    };
    /**
     * A promotion of the replica in order: the master holds back writes, so that the replica has all that was answered.
     * Resolves once the other server is the master for most.
     */
    const promote = async () => {
      const before = await findMaster();
      const [one] = sentinels;
      if (!before || !one) throw new Error('the sentinels know no master');
      await ask(before, 'CLIENT', 'PAUSE', String(pause), 'WRITE');
      // refused while the one before is under way
      await untilTrue(() => succeeds(ask(one, 'SENTINEL', 'FAILOVER', master)), 'a sentinel begins to promote');
      await untilTrue(async () => {
        const now = await findMaster();
        return now !== undefined && now !== before;
      }, 'most sentinels agree on another master');
    };
    return { servers, sentinels, address, env, findMaster, hasReplica, promote };
  });
