/** Redis Cluster, and Redis under sentinels: masters that die, slots that move, another number of shards. */
import calculateSlot from 'cluster-key-slot';
import { dayOf } from '#libs/contract/calendar';
import { readyKey } from '#libs/counters/keys';
import { recordQueue } from '#libs/queue/names';
import type { AssentProcess } from '../../stack/assent-process.ts';
import { moveSlot, ownerOf } from '../../stack/redis-slots.ts';
import { waitUntil } from '../../stack/wait.ts';
import { queueKey, readAs } from '../check.ts';
import { type Drill, drill, type Scene } from '../drill.ts';
import { clusterShards } from '../engine.ts';
import { untilDirect, untilQueued } from '../faults.ts';

const sharded = { QUEUE_SHARDS: String(clusterShards) };

/** The first slot of each master of three, and those of the queues. */
const thirds = [0, 5_461, 10_923];
const queueSlots = Array.from({ length: clusterShards }, (_, shard) => calculateSlot(recordQueue(shard)));

const clusterOf = ({ engine: { cluster } }: Scene) => {
  if (!cluster) throw new Error('there is no cluster');
  return cluster;
};

const sentinelsOf = ({ engine: { sentinels } }: Scene) => {
  if (!sentinels) throw new Error('there are no sentinels');
  return sentinels;
};

/**
 * Records that a master may lose when its process dies: what it has answered and not yet handed to the kernel for its
 * replica, which is less than it answers in a tenth of a second.
 */
const mayLoseAtKill = 25;

type Server = ReturnType<typeof sentinelsOf>['servers'][number] | ReturnType<typeof clusterOf>['nodes'][number];

/** Takes a master away, and returns what brings it back. */
type Away = (master: Server) => Promise<() => Promise<void>>;

const killed: Away = async (master) => {
  await master.kill();
  return () => master.start();
};

/** It answers nothing, and comes back with all its connections, taking itself for the master. */
const frozen: Away = async (master) => {
  const pid = master.pid();
  process.kill(pid, 'SIGSTOP');
  return async () => void process.kill(pid, 'SIGCONT');
};

/** Each master goes away under load, and comes back as the replica of its replica. */
const takeMastersAway = (takeAway: Away) => async (scene: Scene) => {
  const cluster = clusterOf(scene);
  scene.allowed.lost = thirds.length * mayLoseAtKill;
  const { api } = await scene.begin({ api: sharded, worker: sharded });
  const owners = () => Promise.all(queueSlots.map((slot) => ownerOf(cluster, slot)));
  for (const slot of thirds) {
    const { node, id } = await ownerOf(cluster, slot);
    const hasQueue = (await owners()).some((owner) => owner.id === id);
    const bringBack = await takeAway(node);
    if (hasQueue) await untilDirect(scene);
    await scene.until(() => areRead(scene, api), 'statistics are read while a master is away', 10_000);
    const isReplaced = () =>
      ownerOf(cluster, slot).then(
        (owner) => owner.id !== id,
        () => false,
      );
    await scene.until(isReplaced, 'a replica takes the slots over');
    await untilQueued(scene);
    await bringBack();
    await untilReplicated(scene);
    await scene.load.acknowledged(200);
  }
};

/** Whoever asks for statistics gets them, from wherever. */
const areRead = async (scene: Scene, { baseUrl }: AssentProcess): Promise<boolean> => {
  const today = dayOf(Date.now());
  const answers = scene.sites.map((site) =>
    readAs(site, scene, `${baseUrl}/v1/consent/${site.domainId}/stats?from=${today}&to=${today}`),
  );
  return (await Promise.all(answers)).every(({ ok }) => ok);
};

/** Jobs that wait, by shard. */
const countWaitingJobs = ({ counters: { client } }: Scene): Promise<number[]> =>
  Promise.all(Array.from({ length: clusterShards }, (_, shard) => client.llen(queueKey('wait', shard))));

/** Every master has its replica, so that the next may die. */
const untilReplicated = (scene: Scene): Promise<void> =>
  scene.until(async () => {
    const cluster = clusterOf(scene);
    const infos = await Promise.all(
      cluster.nodes.map(async (node) => {
        const client = cluster.connect(node);
        return client.info('replication').finally(() => client.disconnect());
      }),
    );
    const whole = infos.filter((info) => /role:master[\s\S]*state=online|master_link_status:up/.test(info));
    return whole.length === cluster.nodes.length;
  }, 'every master has a replica again');

const promoteUnderLoad =
  (rounds: number, takeAway: Away, mayLose = 0) =>
  async (scene: Scene) => {
    const sentinels = sentinelsOf(scene);
    scene.allowed.lost = rounds * mayLose;
    await scene.begin();
    for (let round = 0; round < rounds; round += 1) {
      const master = await sentinels.findMaster();
      if (!master) throw new Error('the sentinels know no master');
      const bringBack = await takeAway(master);
      await untilDirect(scene);
      await scene.until(async () => {
        const now = await sentinels.findMaster();
        return now !== undefined && now !== master;
      }, 'the replica is promoted');
      // with min-replicas-to-write it takes nothing before
      await bringBack();
      await untilQueued(scene);
      const isReplica = () => sentinels.hasReplica();
      if (!(await waitUntil(isReplica, { deadlineMs: 30_000 }))) throw new Error('the master has no replica');
      await scene.load.acknowledged(200);
    }
  };

const promoteInOrder = async (scene: Scene) => {
  await scene.begin();
  await sentinelsOf(scene).promote();
  await scene.load.acknowledged(200);
  await untilQueued(scene);
};

/** Nothing is taken by a master whose replica has left it. */
const withReplica = { 'min-replicas-to-write': '1', 'min-replicas-max-lag': '10' };

export const engineDrills: Drill[] = [
  {
    ...drill(
      'cluster-master-killed',
      'kill -9 of three masters of a Redis Cluster, one after the other',
      takeMastersAway(killed),
    ),
    engine: 'cluster',
  },
  {
    ...drill(
      'cluster-master-frozen',
      'SIGSTOP of three masters of a Redis Cluster, one after the other, until their replicas have taken over',
      takeMastersAway(frozen),
    ),
    engine: 'cluster',
  },
  {
    ...drill('cluster-slots-move', 'slots of counters and queues move from master to master', async (scene) => {
      await scene.begin({ api: sharded, worker: sharded });
      const keys = [
        readyKey(scene.site.organizationId),
        ...Array.from({ length: clusterShards }, (_, at) => recordQueue(at)),
      ];
      for (let round = 0; round < 2; round += 1) {
        for (const key of keys) {
          await moveSlot(clusterOf(scene), calculateSlot(key), () => scene.load.acknowledged(100));
        }
      }
      await untilQueued(scene);
    }),
    engine: 'cluster',
  },
  {
    ...drill('cluster-shards-change', 'QUEUE_SHARDS changes from 3 to 1 to 5 with jobs that wait', async (scene) => {
      let { api, worker } = await scene.begin({ api: sharded, worker: sharded });
      for (const count of ['1', '5']) {
        await worker.process.stop();
        await scene.load.acknowledged(200);
        if (count === '1') {
          const waiting = await countWaitingJobs(scene);
          scene.expect(Math.min(...waiting) > 0, `jobs wait in every shard: ${waiting.join(', ')}`);
        }
        const [newApi, newWorker] = await Promise.all([
          scene.api({ QUEUE_SHARDS: count }),
          scene.worker({ QUEUE_SHARDS: '1' }),
        ]);
        scene.takeOff(api);
        await api.process.stop();
        [api, worker] = [newApi, newWorker];
        await scene.load.acknowledged(200);
      }
    }),
    engine: 'cluster',
  },
  {
    ...drill(
      'sentinel-promotion',
      'kill -9 of a master under sentinels, three times',
      promoteUnderLoad(3, killed, mayLoseAtKill),
    ),
    engine: 'sentinels',
  },
  {
    ...drill(
      'sentinel-promotion-replica',
      'the same with min-replicas-to-write 1: nothing is lost',
      promoteUnderLoad(3, killed),
    ),
    engine: 'sentinels',
    redisSettings: withReplica,
  },
  {
    ...drill(
      'sentinel-master-frozen',
      'SIGSTOP of a master under sentinels, twice, which comes back as it was: nothing is lost',
      promoteUnderLoad(2, frozen),
    ),
    engine: 'sentinels',
    redisSettings: withReplica,
  },
  {
    ...drill('sentinel-failover', 'SENTINEL FAILOVER with writes held back first: nothing is lost', promoteInOrder),
    engine: 'sentinels',
    redisSettings: withReplica,
  },
];
