/** The one place where errors become answers: Problems as they are, everything else as a 500 without details. */

import { Problem, problems, unavailable } from '#libs/contract/problem';
import { BatcherFull, BatcherTimeout } from '#libs/runtime/batcher';
import { isUnavailable } from '#libs/store/errors';
import type { Log } from '#libs/telemetry/log';
import { type Context, traceOf } from './context.ts';

export const problemType = 'application/problem+json';

export function answerError({ log }: { log: Log }): (ctx: Context, error: unknown) => void {
  return (ctx, error) => {
    const answer = toProblem(error);
    // a Problem was logged by whoever threw it
    if (answer.code === 'internal_error' && answer !== error)
      log.error({ event: 'bug', err: error, requestId: ctx.state.requestId, ...traceOf(ctx) }, 'unexpected error');
    ctx.status = answer.status;
    ctx.set(answer.headers);
    ctx.body = JSON.stringify(answer.body(ctx.state.requestId));
    ctx.type = problemType;
  };
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error)) return unavailable('the database is not available; try again', { cause: error });
  if (error instanceof BatcherFull) return unavailable('too many requests are waiting; try again', { cause: error });
  if (error instanceof BatcherTimeout) return unavailable('the answer took too long; try again', { cause: error });
  return new Problem('internal_error', problems.internal_error.title, { cause: error });
}
