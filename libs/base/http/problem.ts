/** The one place where errors become answers: Problems as they are, everything else as a 500 without details. */

import { BatcherFull, BatcherTimeout } from '../batcher.ts';
import { isUnavailable } from '../db/errors.ts';
import type { Log } from '../ops/process-log.ts';
import { Problem, problems, unavailable } from '../terms/problem.ts';
import { type Context, traceOf } from './context.ts';
import { errorPage, errorPageHeaders } from './error-page.ts';

export const problemType = 'application/problem+json';

export function answerError({ log }: { log: Log }): (ctx: Context, error: unknown) => void {
  return (ctx, error) => {
    const answer = toProblem(error);
    // a Problem was logged by whoever threw it
    if (answer.code === 'internal_error' && answer !== error)
      log.error({ event: 'bug', err: error, requestId: ctx.state.requestId, ...traceOf(ctx) }, 'unexpected error');
    ctx.status = answer.status;
    ctx.set(answer.headers);
    const body = answer.body(ctx.state.requestId);
    const isPage = prefersPage(ctx);
    if (isPage) ctx.set(errorPageHeaders);
    ctx.body = isPage ? errorPage(body) : JSON.stringify(body);
    ctx.type = isPage ? 'html' : problemType;
  };
}

/** A browser's address bar does, outside the API. */
function prefersPage(ctx: Context): boolean {
  if (!ctx.url.startsWith('/') || ctx.url.startsWith('/v1')) return false;
  ctx.vary('Accept');
  return ctx.accepts(problemType, 'json', 'html') === 'html';
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error)) return unavailable('the database is not available; try again', { cause: error });
  if (error instanceof BatcherFull) return unavailable('too many requests are waiting; try again', { cause: error });
  if (error instanceof BatcherTimeout) return unavailable('the answer took too long; try again', { cause: error });
  return new Problem('internal_error', problems.internal_error.title, { cause: error });
}
