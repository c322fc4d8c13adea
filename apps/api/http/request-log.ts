/** Every request gets an id, a metric and, where it failed or was slow, a line in the log. */
import { randomUUID } from 'node:crypto';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';
import type { Context } from './context.ts';
import { routeOf } from './routes.ts';

/** milliseconds */
const slow = 1_000;

/** Before anything else is done for a request. */
export function beginRequest(ctx: Context): void {
  const given = ctx.req.headers['x-request-id'];
  const isUsable = typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given);
  const requestId = isUsable ? given : randomUUID();
  ctx.state = {
    requestId,
    receivedAt: Date.now(),
    arrivedAt: performance.now(),
  };
  ctx.res.setHeader('X-Request-Id', requestId);
}

/** Once the answer is known. */
export function endRequest({ log, metrics }: { log: Log; metrics: Metrics }): (ctx: Context) => void {
  return (ctx) => {
    const duration = performance.now() - ctx.state.arrivedAt;
    const route = routeOf(ctx);
    metrics.requests.observe({ route, method: ctx.method, status: ctx.status }, duration / 1000);
    // a flood that is refused must not become one of the log
    if (ctx.status >= 500 || (duration > slow && ctx.status !== 429)) {
      const { requestId } = ctx.state;
      log.warn({ requestId, route, method: ctx.method, status: ctx.status, duration: Math.round(duration) }, 'request');
    }
  };
}
