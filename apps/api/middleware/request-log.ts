/** Every request gets an id, a metric and, where it failed or was slow, a line in the log. */
import { randomBytes } from 'node:crypto';
import type { Deps, Middleware } from '../context.ts';

/** milliseconds */
const slow = 1_000;

/** Unique without asking for randomness each time: the process's own prefix, and a count. */
const prefix = randomBytes(9).toString('base64url');
let count = 0;
const makeRequestId = (): string => {
  count += 1;
  return `${prefix}-${count.toString(36)}`;
};

export function requestLog({ log, metrics }: Pick<Deps, 'log' | 'metrics'>): Middleware {
  return async (ctx, next) => {
    ctx.state.arrivedAt = performance.now();
    const given = ctx.req.headers['x-request-id'];
    const isUsable = typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given);
    ctx.state.requestId = isUsable ? given : makeRequestId();
    ctx.state.receivedAt = Date.now();
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
    const duration = performance.now() - ctx.state.arrivedAt;
    const route = String(ctx._matchedRoute ?? 'none');
    metrics.requests.observe({ route, method: ctx.method, status: ctx.status }, duration / 1000);
    if (ctx.status >= 500 || duration > slow) {
      const { requestId } = ctx.state;
      log.warn({ requestId, route, method: ctx.method, status: ctx.status, duration: Math.round(duration) }, 'request');
    }
  };
}
