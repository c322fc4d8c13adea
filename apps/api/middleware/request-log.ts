/** Every request gets an id, a metric and, where it failed or was slow, a line in the log. */
import { randomUUID } from 'node:crypto';
import type { Deps, Middleware } from '../context.ts';

const slow = 1_000;

export function requestLog({ log, metrics }: Pick<Deps, 'log' | 'metrics'>): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    const given = ctx.get('x-request-id');
    ctx.state.requestId = /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
    ctx.state.receivedAt = Date.now();
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
    const duration = performance.now() - started;
    const route = String(ctx._matchedRoute ?? 'none');
    metrics.requests.observe({ route, method: ctx.method, status: ctx.status }, duration / 1000);
    if (ctx.status >= 500 || duration > slow) {
      const { requestId } = ctx.state;
      log.warn({ requestId, route, method: ctx.method, status: ctx.status, duration: Math.round(duration) }, 'request');
    }
  };
}
