/**
 * From a request to its answer, for every request: its id, what HTTP itself demands of it, the answer or the error, the
 * log. It is one function, because each layer more is a promise more to wait for.
 */
import { Problem } from '#libs/contract/problem';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';
import type { Context, Middleware } from './context.ts';
import { answerError } from './problem.ts';
import { beginRequest, endRequest } from './request-log.ts';

export function exchange(deps: { log: Log; metrics: Metrics }): Middleware {
  const answer = answerError(deps);
  const end = endRequest(deps);
  return async (ctx, next) => {
    beginRequest(ctx);
    try {
      checkRequest(ctx);
      await next();
      if (ctx.status === 404 && ctx.body == null) throw new Problem('not_found', 'there is nothing at this path');
    } catch (error) {
      answer(ctx, error);
    }
    end(ctx);
  };
}

function checkRequest(ctx: Context): void {
  ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
  // HTTP/1.1 demands exactly one, and several come joined by `, ` (RFC 9112, 3.2); Node's own refusal would have no body
  const { host } = ctx.req.headers;
  if (host === undefined ? ctx.req.httpVersion === '1.1' : host.includes(' ')) {
    throw new Problem('invalid_request', 'send one Host header');
  }
  if (!ctx.url.startsWith('/')) ctx.url = pathOf(ctx.url);
}

/** The absolute form is to be taken too (RFC 9112, 3.2.2), but Koa fails at some of its hosts. */
function pathOf(target: string): string {
  const [origin] = /^https?:\/\/[^/?#]+/i.exec(target) ?? [];
  if (!origin) throw new Problem('invalid_request', 'the request names no path');
  const path = target.slice(origin.length);
  return path.startsWith('/') ? path : `/${path}`;
}
