/** The slots of a private Redis Cluster: who has one, and its way to another master, as `redis-cli --cluster reshard` does it. */
import type { RedisCluster } from './redis-cluster.ts';

const keysAtOnce = 20;
/** milliseconds that one MIGRATE may take */
const patience = 10_000;

/** What the nodes say of each other that can be reached; the first that answers speaks. */
async function listMasters(cluster: RedisCluster) {
  for (const each of cluster.nodes) {
    const lines = await cluster.ask(each, 'CLUSTER', 'NODES').catch(() => undefined);
    if (typeof lines !== 'string') continue;
    return lines.split('\n').flatMap((line) => {
      // `0-5460`, `7`
      const [id = '', address = '', flags = '', , , , , , ...ranges] = line.split(' ');
      const node = cluster.nodes.find(({ port }) => address.includes(`:${port}@`));
      return node && flags.includes('master') && !/fail(,|$)/.test(flags) ? [{ id, node, ranges }] : [];
    });
  }
  throw new Error('no node of the cluster answers');
}

/** The node that has the slot. */
export async function ownerOf(cluster: RedisCluster, slot: number) {
  const owner = (await listMasters(cluster)).find(({ ranges }) =>
    ranges.some((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return from <= slot && slot <= to;
    }),
  );
  if (!owner) throw new Error(`no master has the slot ${slot}`);
  return owner;
}

/** Moves the slot to another master, key by key; `halfway` is called when some keys have moved and others have not. */
export async function moveSlot(cluster: RedisCluster, slot: number, halfway?: () => Promise<unknown>): Promise<void> {
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
