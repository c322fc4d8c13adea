/** Who has which slots of a private Redis Cluster. */
import type { RedisCluster } from './redis-cluster.ts';

/** What the nodes say of each other that can be reached; the first that answers speaks. */
export async function listMasters(cluster: RedisCluster) {
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
