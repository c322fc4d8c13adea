/** Every request gets an id, a metric and, where it failed or was slow, a line in the log. */
import { randomFillSync } from 'node:crypto';
import type { Deps, Middleware } from '../context.ts';

/** milliseconds */
const slow = 1_000;

/** 96 random bits each, which tell nobody how many requests there are; taken from a pool, since asking for them is slow. */
const idBytes = 12;
const pool = Buffer.allocUnsafeSlow(idBytes * 512);
let used = pool.length;
const makeRequestId = (): string => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += idBytes;
  return pool.toString('base64url', used - idBytes, used);
};

export function requestLog({ log, metrics }: Pick<Deps, 'log' | 'metrics'>): Middleware {
  return async (ctx, next) => {
    ctx.state.arrivedAt = performance.now();
    const given = ctx.req.headers['x-request-id'];
    const isUsable = typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given);
    ctx.state.requestId = isUsable ? given : makeRequestId();
    ctx.state.receivedAt = Date.now();
    ctx.res.setHeader('X-Request-Id', ctx.state.requestId);
    await next();
    const duration = performance.now() - ctx.state.arrivedAt;
    const route = String(ctx._matchedRoute ?? 'none');
    metrics.requests.observe({ route, method: ctx.method, status: ctx.status }, duration / 1000);
    // a flood that is refused must not become one of the log
    if (ctx.status >= 500 || (duration > slow && ctx.status !== 429)) {
      const { requestId } = ctx.state;
      log.warn({ requestId, route, method: ctx.method, status: ctx.status, duration: Math.round(duration) }, 'request');
    }
  };
}
