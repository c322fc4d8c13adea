/** Answers a read within the contract's 5 s, even if the stores behind it are slow. */
import { unavailable } from '../terms/problem.ts';
import { TimedOut, within } from '../timers.ts';
import type { Middleware } from './context.ts';

/** Milliseconds: the contract's 5 s, minus the time to reach the client, also of a busy machine. */
const limit = 4_300;

export const deadline: Middleware = async (_, next) => {
  try {
    await within(limit, next());
  } catch (error) {
    if (error instanceof TimedOut)
      throw unavailable('the answer took too long; try again', { cause: error, headers: { Connection: 'close' } });
    throw error;
  }
};
