import { atLeast, type Round } from '../figures.ts';
import type { Measurement } from '../measurement.ts';
import { makeSealSettings } from '../sealed.ts';
import type { Stack } from '../stack.ts';
import { sustained } from './sustain.ts';

/** A round with an API and a worker of its own, since two workers would share the load. */
const alone =
  (stack: Stack, seconds: number, settings: Record<string, string>): Round =>
  async () => {
    await stack.reset();
    const round = await sustained('beside-sealing', stack, seconds, settings);
    return round();
  };

export const besideSealing: Measurement = {
  name: 'beside-sealing',
  about: 'records/s stored end to end by a worker that seals, once a minute as is usual ÷ by one that does not',
  reference: async (stack, { seconds }) => alone(stack, seconds, { SEAL_SECONDS: '0' }),
  figure: async (stack, { seconds }) => alone(stack, seconds, { ...makeSealSettings(), SEAL_SECONDS: '60' }),
  targets: { 'beside-sealing': atLeast(0.97) },
};
