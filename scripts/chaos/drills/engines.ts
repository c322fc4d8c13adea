/** Redis Cluster, and Redis under sentinels: masters are killed, freeze or are replaced in order. */
import { ownerOf } from '../../stack/redis-groups.ts';
import type { Restartable } from '../../stack/server.ts';
import { readAlong } from '../calls.ts';
import type { Drill } from '../drill.ts';
import { type End, freeze, kill, lockTable } from '../faults.ts';
import { need } from '../load.ts';
import type { PlannedFault } from '../random/plan.ts';
import type { Scene } from '../scene.ts';
import { untilSealed } from '../sealed-log.ts';
import { clusterShards } from '../stack.ts';
import { perform, startSystem } from '../system.ts';

/** The first slot of each master of three. */
const thirds = [0, 5_461, 10_923];
/**
 * Records that a master may lose when it is killed or frozen: acknowledged, but not yet sent to its replica. Redis does one
 * after the other. Less than a tenth of a second's.
 */
const mayLoseAtKill = 10;
/** Nothing is taken by a master whose replica has left it. */
const needsReplica = { 'min-replicas-to-write': '1', 'min-replicas-max-lag': '10' };

type FindMaster = () => Promise<Restartable | undefined>;

/** What happens to masters: each is away until another one has its place, and comes back as a replica. */
function faultsOfMasters(scene: Scene, next: () => FindMaster, isWhole: () => Promise<boolean>) {
  const replaced = (takeAway: (server: Restartable) => Promise<End> | End) => async () => {
    const findMaster = next();
    const master = need(await findMaster());
    const bringBack = await takeAway(master);
    const isReplaced = async () => ![undefined, master].includes(await findMaster());
    await scene.until(isReplaced, 'another master takes its place');
    return async () => {
      await bringBack();
      await scene.until(isWhole, 'every master has its replica again');
      await scene.load.acknowledged(200);
    };
  };
  // a frozen one comes back with all its connections, and takes itself for the master
  return { kill: replaced(kill), freeze: replaced(freeze) };
}

const inTurn = (faults: string[]) => faults.map((what, at) => ({ part: 'master', what, from: 2 + at, to: 3 + at }));

async function takeClusterMasters(scene: Scene): Promise<void> {
  const cluster = need(scene.cluster);
  const parts = await startSystem(scene, { env: { QUEUE_SHARDS: String(clusterShards) } });
  let turn = 0;
  const next = () => {
    const slot = need(thirds[turn++ % thirds.length]);
    return () => ownerOf(cluster, slot).then(({ node }) => node);
  };
  const isReplicated = async (node: { url: string }) => {
    const client = cluster.connect(node);
    const info = await client.info('replication').finally(() => client.disconnect());
    return /role:master[\s\S]*state=online|master_link_status:up/.test(info);
  };
  const isWhole = async () => (await Promise.all(cluster.nodes.map(isReplicated))).every(Boolean);
  parts.set('master', faultsOfMasters(scene, next, isWhole));
  scene.alongside(readAlong(scene, [200]));
  await perform(parts, inTurn(['kill', 'kill', 'kill', 'freeze', 'freeze', 'freeze']));
}

const takeMasters = (faults: string[]) => async (scene: Scene) => {
  const sentinels = need(scene.sentinels);
  const parts = await startSystem(scene);
  const replaceInOrder = async () => {
    await sentinels.promote();
    return () => scene.until(sentinels.hasReplica, 'the master has a replica');
  };
  const next = () => sentinels.findMaster;
  parts.set('master', { ...faultsOfMasters(scene, next, sentinels.hasReplica), replaceInOrder });
  scene.alongside(readAlong(scene, [200]));
  await perform(parts, inTurn(faults));
};

export const engineDrills: Drill[] = [
  {
    name: 'cluster',
    about: 'each master of a Redis Cluster is killed and later frozen until another one has its place',
    engine: 'cluster',
    mayLose: 2 * thirds.length * mayLoseAtKill,
    run: takeClusterMasters,
  },
  {
    name: 'sentinels',
    about: 'a master under sentinels is killed three times, which may lose some',
    engine: 'sentinels',
    mayLose: 3 * mayLoseAtKill,
    run: takeMasters(['kill', 'kill', 'kill']),
  },
  {
    name: 'sentinels-with-replica',
    about: 'with min-replicas-to-write 1 killed and frozen, twice each, which may lose some',
    engine: 'sentinels',
    redisSettings: needsReplica,
    mayLose: 4 * mayLoseAtKill,
    run: takeMasters(['kill', 'freeze', 'kill', 'freeze']),
  },
  {
    name: 'sentinels-in-order',
    about: 'with min-replicas-to-write 1 replaced in order, twice, with writes held back: nothing is lost',
    engine: 'sentinels',
    redisSettings: needsReplica,
    run: takeMasters(['replaceInOrder', 'replaceInOrder']),
  },
];

const killed = (part: string, from: number, to: number): PlannedFault => ({ part, what: 'kill', from, to });

const plan = [
  ...[killed('api-1', 1, 2), killed('worker-1', 2, 3), killed('redis', 3, 4), killed('worker-2', 3, 4)],
  ...[killed('redis', 5, 6), killed('postgres', 7, 10)],
  // both at once
  ...[killed('redis', 12, 15), killed('postgres', 12, 15)],
];

async function killInTurn(scene: Scene): Promise<void> {
  const parts = await startSystem(scene);
  scene.alongside(readAlong(scene));
  await perform(parts, plan);
}

/** What sealing changes, in this order: held back there, it has closed an epoch, is between runs, folds, or has signed. */
const steps = ['derivations', 'log_runs', 'log_nodes', 'logs', 'log_keys'] as const;

async function killSealer(scene: Scene): Promise<void> {
  let { worker } = await scene.begin();
  await untilSealed(scene);
  for (const step of steps) {
    const release = await lockTable(scene, step);
    const isHeldBack = async () =>
      (await scene.count(
        (sql) => sql`
          select count(*)::int as n from pg_locks join pg_stat_activity using (pid)
          where not granted and relation = ${step}::regclass and application_name = 'assent-worker'`,
      )) > 0;
    await scene.until(isHeldBack, `sealing comes to ${step}`);
    await scene.kill(worker);
    await release();
    worker = await scene.worker();
    await untilSealed(scene);
  }
}

export const killDrills: Drill[] = [
  {
    name: 'kills',
    quick: true,
    about: 'kill -9 of an API, workers, Redis twice, Postgres, and both stores at once',
    run: killInTurn,
  },
  {
    name: 'sealer-kills',
    quick: true,
    about: 'kill -9 of the worker at every step of sealing',
    run: killSealer,
  },
];
