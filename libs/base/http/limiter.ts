/**
 * Rate limits per key and minute, quarter of an hour or UTC day, counted in this process. All keys share one window. Two
 * maps bound the memory: when the recent one is full it becomes the old one, and the old one is dropped. A key that keeps
 * coming keeps its count.
 */

import { Problem } from '../terms/problem.ts';
import type { Context } from './context.ts';

/** seconds */
const windows = { minute: 60, quarter: 900, day: 86_400 };
/** keys in one map */
const maxKeys = 50_000;

export interface Limiter {
  /** Counts one request, or `weight`. Throws a 429 above the limit. */
  admit(ctx: Context, key: string, weight?: number): void;
  /** Counts one request without a refusal. */
  count(key: string): void;
  /** Subtracts one that should not have been counted. */
  takeBack(key: string): void;
  /** Sets the count to the limit, which was used up elsewhere. */
  useUp(key: string): void;
  /** Throws a 429 if the limit is reached. Counts nothing. */
  check(ctx: Context, key: string): void;
  isReached(key: string): boolean;
}

interface LimiterOptions {
  /** the policy's name in the `RateLimit` header fields */
  name: string;
  /** per key and minute, quarter of an hour, or day */
  limit: number;
  per?: keyof typeof windows;
  /** of the 429 */
  detail: string;
  /** adds `RateLimit` header fields to every response, not only to refusals */
  showsRemaining?: boolean;
}

/** A `limit` of 0 limits nothing. */
export function createLimiter({
  name,
  limit,
  per = 'minute',
  detail,
  showsRemaining = false,
}: LimiterOptions): Limiter {
  const nothing = () => {};
  if (limit === 0) {
    return {
      admit: nothing,
      count: nothing,
      takeBack: nothing,
      useUp: nothing,
      check: nothing,
      isReached: () => false,
    };
  }
  const window = windows[per];
  let recent = new Map<string, number>();
  let before = new Map<string, number>();
  /** when the window ends, on the monotonic clock */
  let ends = 0;

  const countOf = (key: string): number => {
    const now = performance.now();
    if (now >= ends) {
      ends = now + millisecondsOf(per);
      recent = new Map();
      before = new Map();
    }
    return recent.get(key) ?? before.get(key) ?? 0;
  };
  const isReached = (key: string) => countOf(key) >= limit;
  const addTo = (key: string, weight = 1): number => setTo(key, countOf(key) + weight);
  const setTo = (key: string, count: number): number => {
    if (recent.size >= maxKeys && !recent.has(key)) {
      before = recent;
      recent = new Map();
    }
    recent.set(key, count);
    return count;
  };
  const secondsLeft = () => Math.max(1, Math.ceil((ends - performance.now()) / 1_000));
  /** As draft-ietf-httpapi-ratelimit-headers. They are lists, since several limits may count one request. */
  const fields = (left: number) => ({
    'RateLimit-Policy': `"${name}";q=${limit};w=${window}`,
    RateLimit: `"${name}";r=${left};t=${secondsLeft()}`,
  });
  const addFields = (ctx: Context, left: number) => {
    for (const [field, value] of Object.entries(fields(left))) {
      const before = ctx.response.get(field);
      ctx.set(field, before ? `${before}, ${value}` : value);
    }
  };
  const refuse = (ctx: Context): never => {
    const seconds = secondsLeft();
    for (const [field, value] of Object.entries(fields(0))) ctx.set(field, value);
    throw new Problem('rate_limited', detail, { headers: { 'Retry-After': String(seconds) } });
  };

  return {
    admit: (ctx, key, weight) => {
      const count = addTo(key, weight);
      if (count > limit) refuse(ctx);
      if (showsRemaining) addFields(ctx, limit - count);
    },
    count: (key) => void addTo(key),
    takeBack: (key) => void setTo(key, Math.max(0, countOf(key) - 1)),
    useUp: (key) => void setTo(key, Math.max(limit, countOf(key))),
    check: (ctx, key) => {
      if (isReached(key)) refuse(ctx);
    },
    isReached,
  };
}

/** A window begins with its first request, but a day is a calendar day. */
const millisecondsOf = (window: keyof typeof windows): number =>
  windows[window] * 1_000 - (window === 'day' ? Date.now() % 86_400_000 : 0);
