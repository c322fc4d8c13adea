/** The slots of a private Redis Cluster: who has one, and its way to another master, as `redis-cli --cluster reshard` does it. */
import type { Redis } from 'ioredis';
import type { RedisCluster } from './redis-cluster.ts';

const keysAtOnce = 20;
/** milliseconds that one MIGRATE may take */
const patience = 10_000;

interface Node {
  id: string;
  port: number;
  isMaster: boolean;
  /** as CLUSTER NODES has them: `0-5460`, `7` */
  ranges: string[];
}

/** What the nodes say of each other that can be reached; the first that answers speaks. */
async function listNodes(cluster: RedisCluster): Promise<Node[]> {
  for (const each of cluster.nodes) {
    const lines = await withNode(cluster, each, (node) => node.call('CLUSTER', 'NODES')).catch(() => undefined);
    if (typeof lines !== 'string') continue;
    return lines
      .trim()
      .split('\n')
      .map((line) => {
        const [id = '', address = '', flags = '', , , , , , ...ranges] = line.split(' ');
        const port = Number(/:(\d+)@/.exec(address)?.[1]);
        const isMaster = flags.includes('master') && !/fail(,|$)/.test(flags);
        return { id, port, isMaster, ranges };
      });
  }
  throw new Error('no node of the cluster answers');
}

/** The node that has the slot. */
export async function ownerOf(cluster: RedisCluster, slot: number) {
  const owns = ({ ranges }: Node) =>
    ranges.some((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return from <= slot && slot <= to;
    });
  const owner = (await listNodes(cluster)).find((node) => node.isMaster && owns(node));
  const node = cluster.nodes.find(({ port }) => port === owner?.port);
  if (!owner || !node) throw new Error(`no master has the slot ${slot}`);
  return { id: owner.id, node };
}

/** Moves the slot to another master, key by key; `halfway` is called when some keys have moved and others have not. */
export async function moveSlot(cluster: RedisCluster, slot: number, halfway?: () => Promise<unknown>): Promise<void> {
  const from = await ownerOf(cluster, slot);
  const all = await listNodes(cluster);
  const masters = all.filter(({ isMaster, id }) => isMaster && id !== from.id);
  const to = masters.find(({ ranges }) => ranges.length > 0);
  const node = cluster.nodes.find(({ port }) => port === to?.port);
  if (!to || !node) throw new Error('there is no other master');
  await withNode(cluster, node, (target) =>
    withNode(cluster, from.node, async (source) => {
      const set = (client: Redis, ...how: string[]) => client.call('CLUSTER', 'SETSLOT', String(slot), ...how);
      await set(target, 'IMPORTING', from.id);
      await set(source, 'MIGRATING', to.id);
      await migrate(cluster, { source, slot, port: to.port, most: 1 });
      await halfway?.();
      while ((await migrate(cluster, { source, slot, port: to.port, most: keysAtOnce })) > 0);
      await set(target, 'NODE', to.id);
      await set(source, 'NODE', to.id);
    }),
  );
}

/** Returns how many keys it moved. */
async function migrate(
  { password }: RedisCluster,
  { source, slot, port, most }: { source: Redis; slot: number; port: number; most: number },
): Promise<number> {
  const keys = await source.call('CLUSTER', 'GETKEYSINSLOT', String(slot), String(most));
  if (!Array.isArray(keys) || keys.length === 0) return 0;
  const target = ['127.0.0.1', String(port), '', '0', String(patience), 'AUTH', password];
  await source.call('MIGRATE', ...target, 'KEYS', ...keys.map(String));
  return keys.length;
}

async function withNode<T>(cluster: RedisCluster, node: { url: string }, work: (client: Redis) => Promise<T>) {
  const client = cluster.connect(node);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}
