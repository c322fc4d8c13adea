/** A read is answered in time, also where the stores behind it are each slow and together too slow. */
import { unavailable } from '#libs/contract/problem';
import { TimedOut, within } from '#libs/runtime/within';
import type { Middleware } from './context.ts';

/** Milliseconds: the contract's 5 s, less the way to the client. */
export const limit = 4_700;

export const deadline: Middleware = async (_, next) => {
  try {
    await within(limit, next());
  } catch (error) {
    if (error instanceof TimedOut)
      throw unavailable('no answer in time; try again', { cause: error, headers: { Connection: 'close' } });
    throw error;
  }
};
