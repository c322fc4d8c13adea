/**
 * Limits per key and minute, counted in this process. All keys share one minute. Two maps bound the memory: once the recent
 * one is full it becomes the old one, and the old one is dropped. A key that keeps coming keeps its count.
 */

import { Problem } from '#libs/contract/problem';
import type { Context } from '../http/context.ts';

/** seconds */
const minute = 60;
/** keys in one map */
const maxKeys = 50_000;

export interface Limiter {
  /** Counts one; throws the 429 Problem where that is more than the limit. */
  admit(ctx: Context, key: string): void;
  /** Counts one and refuses nothing. */
  count(key: string): void;
  /** Throws the 429 Problem where the limit is reached, and counts nothing. */
  check(ctx: Context, key: string): void;
  /** Whether the limit is reached. */
  isReached(key: string): boolean;
}

export interface LimiterOptions {
  /** as the `RateLimit` header fields call it */
  name: string;
  /** per key and minute */
  limit: number;
  /** what the refusal says */
  detail: string;
}

/** Where `limit` is 0 nothing is limited. */
export function createLimiter({ name, limit, detail }: LimiterOptions): Limiter {
  if (limit === 0) return { admit: () => {}, count: () => {}, check: () => {}, isReached: () => false };
  let recent = new Map<string, number>();
  let before = new Map<string, number>();
  /** when the minute ends, on the monotonic clock */
  let ends = 0;

  const countOf = (key: string): number => {
    const now = performance.now();
    if (now >= ends) {
      ends = now + minute * 1_000;
      recent = new Map();
      before = new Map();
    }
    return recent.get(key) ?? before.get(key) ?? 0;
  };
  const isReached = (key: string) => countOf(key) >= limit;
  const addTo = (key: string): number => {
    const count = countOf(key) + 1;
    if (recent.size >= maxKeys && !recent.has(key)) {
      before = recent;
      recent = new Map();
    }
    recent.set(key, count);
    return count;
  };
  /** With the header fields of draft-ietf-httpapi-ratelimit-headers. */
  const refuse = (ctx: Context): never => {
    const seconds = Math.max(1, Math.ceil((ends - performance.now()) / 1_000));
    ctx.set('RateLimit-Policy', `"${name}";q=${limit};w=${minute}`);
    ctx.set('RateLimit', `"${name}";r=0;t=${seconds}`);
    throw new Problem('rate_limited', detail, { headers: { 'Retry-After': String(seconds) } });
  };

  return {
    admit: (ctx, key) => {
      if (addTo(key) > limit) refuse(ctx);
    },
    count: (key) => void addTo(key),
    check: (ctx, key) => {
      if (isReached(key)) refuse(ctx);
    },
    isReached,
  };
}
