import { makeId } from '#libs/store/tenants/administration';
import { atLeast, atMost, type Figures } from '../figures.ts';
import type { Computation } from '../measurement.ts';
import { makeOrganizations, shareOf, spreadOver } from '../spread.ts';

const shards = 16;
const count = 10_000;
/** so many of the largest are left out in the last figures */
const largest = 10;

const shares = (unit: string) => (value: number) => ({ value, unit });

/** The same advice is in docs/operations.md. */
const advice = `All records of an organization go through one shard, so more shards do not help a huge one. What helps, in this order:
1. Nothing, as long as the Redis master of its shard has room: a core of Redis takes nearly a hundred thousand records a second.
2. A master of its own: move the shard's slot to a node that holds no other (redis-cli --cluster).
3. More workers. They take jobs of all shards, so a full shard does not leave them idle.
4. Several organizations instead of one, such as one for each brand or region, each with its own domains and tokens.`;

export const shardsOfOrganizations: Computation = {
  name: 'shards',
  about: `how ${count.toLocaleString('en-US')} organizations of Zipf-like sizes share ${shards} queues, by their number and by their load`,
  compute: async () => {
    const [even, percent] = [shares('× even'), shares('%')];
    const all = makeOrganizations(count, () => makeId('org'));
    const [first] = all;
    if (!first) throw new Error('there are no organizations');
    const { organizations, load } = spreadOver(shards, all);
    const others = spreadOver(shards, all.slice(largest)).load;
    const sum = all.reduce((before, each) => before + each.load, 0);
    const figures: Figures = {
      'shards: organizations, fullest': even(organizations.fullest),
      'shards: organizations, emptiest': even(organizations.emptiest),
      'shards: load, fullest': even(load.fullest),
      'shards: load, emptiest': even(load.emptiest),
      'shards: load of the largest organization': even((first.load / sum) * shards),
      'shards: the largest organization, of the load of its shard': percent(100 * shareOf(first, shards, all)),
      [`shards: load without the ${largest} largest, fullest`]: even(others.fullest),
      [`shards: load without the ${largest} largest, emptiest`]: even(others.emptiest),
    };
    return figures;
  },
  targets: {
    'shards: organizations, fullest': atMost(1.2),
    'shards: organizations, emptiest': atLeast(0.8),
  },
  advice,
};
