/**
 * A limit per key and minute, in this process's memory: never a round trip per request. The number of keys is bounded:
 * the one unused for longest makes room, so a key that is used much is never the one that goes.
 */
import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Problem } from '#libs/contract/problem';
import type { Log } from '#libs/telemetry/log';
import type { Context } from './context.ts';

const minute = 60;
/** Some 400 bytes each. */
const maxKeys = 50_000;

export interface Use {
  consumed: number;
  remaining: number;
  /** until the count begins anew */
  seconds: number;
}

export interface Limiter {
  /** Counts one; null where the limiter failed, and then the request passes. */
  consume(key: string): Promise<Use | null>;
  /** What is counted so far; null for nothing. */
  look(key: string): Promise<Use | null>;
  /** A 429 with the header fields of draft-ietf-httpapi-ratelimit-headers. */
  refuse(ctx: Context, use: Use, detail: string): never;
}

export function createLimiter(
  { name, points, log }: { name: string; points: number; log: Log },
  counters: RateLimiterAbstract = new RateLimiterMemory({ points, duration: minute }),
): Limiter {
  const kept = new LRUCache<string, true>({ max: maxKeys, dispose: (_, key) => void counters.delete(key) });

  const pass = (error: unknown): null => {
    log.error({ err: error, limiter: name }, 'a rate limiter failed; the request passes');
    return null;
  };

  return {
    consume: (key) => {
      if (!kept.get(key)) kept.set(key, true);
      return counters
        .consume(key)
        .then(toUse, (refusal: unknown) => (refusal instanceof RateLimiterRes ? toUse(refusal) : pass(refusal)));
    },
    look: (key) => counters.get(key).then((found) => found && toUse(found), pass),
    refuse: (ctx, { remaining, seconds }, detail) => {
      ctx.set('RateLimit-Policy', `"${name}";q=${points};w=${minute}`);
      ctx.set('RateLimit', `"${name}";r=${remaining};t=${seconds}`);
      throw new Problem('rate_limited', detail, { headers: { 'Retry-After': String(Math.max(1, seconds)) } });
    },
  };
}

const toUse = ({ consumedPoints, remainingPoints, msBeforeNext }: RateLimiterRes): Use => ({
  consumed: consumedPoints,
  remaining: remainingPoints,
  seconds: Math.ceil(msBeforeNext / 1000),
});
