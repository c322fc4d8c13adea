/** Counts refused records by reason, so that a flood of them shows at once. */
import { Problem } from '#libs/contract/problem';
import type { Deps, Middleware } from '../context.ts';

export function countRefusals({ metrics }: Pick<Deps, 'metrics'>): Middleware {
  return async (_, next) => {
    try {
      await next();
    } catch (error) {
      metrics.refusals.inc({ code: error instanceof Problem ? error.code : 'internal_error' });
      throw error;
    }
  };
}
