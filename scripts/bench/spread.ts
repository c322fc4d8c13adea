/** How organizations share the queues, each of which takes all records of its own. */
import { shardOf } from '#libs/queue/names';

interface Organization {
  id: string;
  /** records in any unit of time */
  load: number;
}

/** Of the shards with the most and the least, as multiples of an even share. */
interface Spread {
  fullest: number;
  emptiest: number;
}

export function spreadOver(shards: number, organizations: Organization[]): { organizations: Spread; load: Spread } {
  const counts = Array<number>(shards).fill(0);
  const loads = Array<number>(shards).fill(0);
  for (const { id, load } of organizations) {
    const shard = shardOf(id, shards);
    counts[shard] = (counts[shard] ?? 0) + 1;
    loads[shard] = (loads[shard] ?? 0) + load;
  }
  return { organizations: spreadOf(counts), load: spreadOf(loads) };
}

/** How much of the load of its shard one organization has among all: from 0 to 1. */
export function shareOf({ id, load }: Organization, shards: number, all: Organization[]): number {
  const beside = all.filter((each) => shardOf(each.id, shards) === shardOf(id, shards));
  return load / beside.reduce((sum, each) => sum + each.load, 0);
}

function spreadOf(shares: number[]): Spread {
  const even = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return { fullest: Math.max(...shares) / even, emptiest: Math.min(...shares) / even };
}

/** With ids as the service makes them; the n-th has a load of 1/n (Zipf's law). */
export const makeOrganizations = (count: number, makeId: () => string): Organization[] =>
  Array.from({ length: count }, (_, at) => ({ id: makeId(), load: 1 / (at + 1) }));
