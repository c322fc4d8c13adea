/** A slot's way to another master of a private Redis Cluster, as `redis-cli --cluster reshard` does it. */
import type { RedisCluster } from '../../scripts/stack/redis-cluster.ts';
import { listMasters, ownerOf } from '../../scripts/stack/redis-cluster.ts';

const keysAtOnce = 20;
/** milliseconds that one MIGRATE may take */
const patience = 10_000;

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
