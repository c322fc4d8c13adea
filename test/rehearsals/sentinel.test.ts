/** A Redis with a replica, which three sentinels promote; all with TLS and passwords. */
import { expect, inject, it } from 'vitest';
import { perform } from '../../scripts/chaos/drill.ts';
import { engineDrills } from '../../scripts/chaos/drills/engines.ts';

it('a master that is killed, frozen or replaced in order under load loses nothing, and the next one goes on', async () => {
  const drill = engineDrills.find(({ name }) => name === 'sentinels-with-replica') ?? expect.fail('no such drill');
  const report = await perform(drill, inject('dist'), new AbortController().signal);
  expect(report).toMatchObject({ breaches: [], verdict: { lost: 0 } });
}, 900_000);
