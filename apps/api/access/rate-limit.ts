/** How much one client may ask for. */

import type { ApiConfig } from '#libs/config/api';
import type { Log } from '#libs/telemetry/log';
import type { Middleware } from '../http/context.ts';
import type { Step } from '../http/steps.ts';
import { domainIn } from './api-key.ts';
import { accessIn } from './bearer.ts';
import { clientAddress, network } from './client-address.ts';
import { createLimiter } from './limiter.ts';

interface Limits {
  config: Pick<ApiConfig, 'recordRatePerMinute' | 'readRatePerMinute'>;
  log: Log;
}

/** Records per client network and domain. Only the refusal has the header fields: a flood's answers are kept small. */
export function recordRateLimit({ config, log }: Limits): Step {
  const points = config.recordRatePerMinute;
  if (points === 0) return () => {};
  const limiter = createLimiter({ name: 'record', points, crowd: true, log });
  const detail = `at most ${points} records a minute from one address`;
  return (ctx) => limiter.admit(ctx, `${network(clientAddress(ctx))} ${domainIn(ctx).domainId}`, detail);
}

/** Reads per access token. Only the refusal has the header fields: what a read answers must not tell reads apart. */
export function readRateLimit({ config, log }: Limits): Middleware {
  const points = config.readRatePerMinute;
  if (points === 0) return (_, next) => next();
  const limiter = createLimiter({ name: 'read', points, log });
  const detail = `at most ${points} reads a minute with one access token`;
  return async (ctx, next) => {
    await limiter.admit(ctx, accessIn(ctx).countedAs, detail);
    return next();
  };
}
