/** Limits in this process's memory: never a round trip per request. A limiter that fails lets requests through. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Problem } from '#libs/contract/problem';
import { clientAddress, network } from '../client-address.ts';
import type { Context, Deps, Middleware } from '../context.ts';
import { domainIn } from './api-key.ts';

const minute = 60;

/** Records per client network and domain. */
export function recordRateLimit({ config, log }: Pick<Deps, 'config' | 'log'>): Middleware {
  const points = config.recordRatePerMinute;
  if (points === 0) return (_, next) => next();
  const limiter = new RateLimiterMemory({ points, duration: minute });
  return async (ctx, next) => {
    const key = `${network(clientAddress(ctx))} ${domainIn(ctx).domainId}`;
    const result = await limiter.consume(key).catch((refusal: unknown) => {
      if (refusal instanceof RateLimiterRes) return refusal;
      log.error({ err: refusal, requestId: ctx.state.requestId }, 'the rate limiter failed; the request passes');
      return null;
    });
    if (result) tell(ctx, result, points);
    return next();
  };
}

/** Header fields of draft-ietf-httpapi-ratelimit-headers. */
function tell(ctx: Context, result: RateLimiterRes, points: number): void {
  const seconds = Math.ceil(result.msBeforeNext / 1000);
  ctx.set('RateLimit-Policy', `"record";q=${points};w=${minute}`);
  ctx.set('RateLimit', `"record";r=${result.remainingPoints};t=${seconds}`);
  if (result.consumedPoints > points) {
    throw new Problem('rate_limited', `at most ${points} records a minute from one address`, {
      headers: { 'Retry-After': String(Math.max(1, seconds)) },
    });
  }
}
