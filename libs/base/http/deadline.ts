/** Keeps the contract's limit of 5 s for reads, even if the stores are slow. */
import { unavailable } from '../terms/problem.ts';
import { TimedOut, within } from '../timers.ts';
import type { Middleware } from './context.ts';

/** Milliseconds: leaves time to send the response, also on a busy machine. */
const limit = 4_300;

export const deadline: Middleware = async (_, next) => {
  try {
    await within(limit, next());
  } catch (error) {
    if (error instanceof TimedOut)
      throw unavailable('the response took too long; try again', { cause: error, headers: { Connection: 'close' } });
    throw error;
  }
};
