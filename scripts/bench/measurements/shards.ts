import { makeId } from '#libs/store/tenants/administration';
import { atLeast, atMost, type Figures } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { makeOrganizations, spreadOver } from '../spread.ts';

const shards = 16;
const count = 10_000;
/** so many of the largest are left out in the last figures */
const largest = 10;

const shares = (unit: string) => (value: number) => ({ value, unit });

/** No server takes part. */
export const shardsOfOrganizations: Measurement = {
  name: 'shards',
  about: `how ${count.toLocaleString('en-US')} organizations of Zipf-like sizes share ${shards} queues, by their number and by their load`,
  figure: async () => async () => {
    const even = shares('× even');
    const all = makeOrganizations(count, () => makeId('org'));
    const { organizations, load } = spreadOver(shards, all);
    const others = spreadOver(shards, all.slice(largest)).load;
    const sum = all.reduce((before, each) => before + each.load, 0);
    const figures: Figures = {
      'shards: organizations, fullest': even(organizations.fullest),
      'shards: organizations, emptiest': even(organizations.emptiest),
      'shards: load, fullest': even(load.fullest),
      'shards: load, emptiest': even(load.emptiest),
      'shards: load of the largest organization': even(((all[0]?.load ?? 0) / sum) * shards),
      [`shards: load without the ${largest} largest, fullest`]: even(others.fullest),
      [`shards: load without the ${largest} largest, emptiest`]: even(others.emptiest),
    };
    return figures;
  },
  targets: {
    'shards: organizations, fullest': atMost(1.2),
    'shards: organizations, emptiest': atLeast(0.8),
  },
};
