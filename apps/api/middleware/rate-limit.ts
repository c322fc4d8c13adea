/** How much one client may ask for. */
import { clientAddress, network } from '../client-address.ts';
import type { Deps, Middleware } from '../context.ts';
import { createLimiter } from '../limiter.ts';
import type { Step } from '../steps.ts';
import { domainIn } from './api-key.ts';
import { accessIn } from './bearer.ts';

/** Records per client network and domain. Only the refusal has the header fields: a flood's answers are kept small. */
export function recordRateLimit({ config, log }: Pick<Deps, 'config' | 'log'>): Step {
  const points = config.recordRatePerMinute;
  if (points === 0) return () => {};
  const limiter = createLimiter({ name: 'record', points, log });
  return async (ctx) => {
    const use = await limiter.consume(`${network(clientAddress(ctx))} ${domainIn(ctx).domainId}`);
    if (use && use.consumed > points) limiter.refuse(ctx, use, `at most ${points} records a minute from one address`);
  };
}

/** Reads per access token. Only the refusal has the header fields: what a read answers must not tell reads apart. */
export function readRateLimit({ config, log }: Pick<Deps, 'config' | 'log'>): Middleware {
  const points = config.readRatePerMinute;
  if (points === 0) return (_, next) => next();
  const limiter = createLimiter({ name: 'read', points, log });
  return async (ctx, next) => {
    const use = await limiter.consume(accessIn(ctx).countedAs);
    if (use && use.consumed > points)
      limiter.refuse(ctx, use, `at most ${points} reads a minute with one access token`);
    return next();
  };
}
