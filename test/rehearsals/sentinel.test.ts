/** A Redis with a replica, which three sentinels promote; all with TLS and passwords. */
import { expect, inject, it } from 'vitest';
import { perform } from '../../scripts/chaos/drill.ts';
import { engineDrills } from '../../scripts/chaos/drills/engines.ts';

const signal = new AbortController().signal;
const named = (wanted: string) => engineDrills.find(({ name }) => name === wanted) ?? expect.fail('no such drill');

it('a master that is killed or frozen under load loses only what it had not yet passed on, and the next one goes on', async () => {
  expect(await perform(named('sentinels-with-replica'), inject('dist'), signal)).toMatchObject({ breaches: [] });
}, 900_000);

it('a master that is replaced in order under load loses nothing', async () => {
  const report = await perform(named('sentinels-in-order'), inject('dist'), signal);
  expect(report).toMatchObject({ breaches: [], verdict: { lost: 0 } });
}, 900_000);
