/** How much one client may ask for. Only the refusal has the header fields: a flood's answers are kept small. */
import type { ApiConfig } from '#libs/config/api';
import type { Middleware } from '../http/context.ts';
import type { Step } from '../http/steps.ts';
import { domainIn } from './api-key.ts';
import { accessIn } from './bearer.ts';
import { clientAddress, network } from './client-address.ts';
import { createLimiter } from './limiter.ts';

/** Records per client network and domain. */
export function recordRateLimit({ recordRatePerMinute: limit }: Pick<ApiConfig, 'recordRatePerMinute'>): Step {
  const detail = `at most ${limit} records a minute from one address`;
  const limiter = createLimiter({ name: 'record', limit, detail });
  return (ctx) => limiter.admit(ctx, `${network(clientAddress(ctx))} ${domainIn(ctx).domainId}`);
}

/** Reads per access token. */
export function readRateLimit({ readRatePerMinute: limit }: Pick<ApiConfig, 'readRatePerMinute'>): Middleware {
  const detail = `at most ${limit} reads a minute with one access token`;
  const limiter = createLimiter({ name: 'read', limit, detail });
  return (ctx, next) => {
    limiter.admit(ctx, accessIn(ctx).countedAs);
    return next();
  };
}
