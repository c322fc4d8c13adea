/**
 * A limit per key and minute, in this process's memory: never a round trip per request. The minute is the same for all
 * keys and their number is bounded, both without work for each key: with a timer and a place in a list of use for each,
 * visitors who all come from an address of their own would cost several times as much. Once enough keys were counted the
 * next ones begin a new generation, which takes over what the one before knows of a key that comes again, and the one
 * before that is forgotten as a whole. So a key that is used much is never the one that goes.
 * Keys that come in crowds, a record or two from each, are not counted one by one until they could be halfway to their
 * limit: a sketch knows that they are not. It may take a key for another that shares its place, and then that one has
 * half of the limit left.
 */
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Problem } from '#libs/contract/problem';
import type { Log } from '#libs/telemetry/log';
import type { Context } from '../http/context.ts';
import { createSketch, type Sketch } from './sketch.ts';

/** seconds */
const minute = 60;
/** Keys of one generation, of which two are kept. */
const generation = 50_000;
/** A lower limit is counted exactly from the beginning: in a crowd many share a place of the sketch with a few others. */
const leastInCrowd = 100;

export interface Use {
  consumed: number;
  remaining: number;
  /** until the count begins anew */
  seconds: number;
}

export interface Limiter {
  /** Counts one, and throws the 429 where that is too many; nothing to wait for where it cannot be. */
  admit(ctx: Context, key: string, detail: string): Promise<void> | undefined;
  /** Counts one; null where the limiter failed, and then the request passes. */
  consume(key: string): Promise<Use | null>;
  /** What is counted so far; null for nothing. */
  look(key: string): Promise<Use | null>;
  /** A 429 with the header fields of draft-ietf-httpapi-ratelimit-headers. */
  refuse(ctx: Context, use: Use, detail: string): never;
}

interface Counts {
  /** when the minute is over, by a clock that nobody sets */
  until: number;
  recent: RateLimiterAbstract;
  before: RateLimiterAbstract | null;
  /** in `recent` */
  keys: number;
  /** of what came before a key was counted by itself */
  sketch: Sketch | null;
}

export interface LimiterOptions {
  name: string;
  points: number;
  /** Whether `admit` meets crowds of keys that come a few times each. */
  crowd?: boolean;
  log: Log;
}

/** `open` makes a generation: counters that never expire; `openSketch` the sketch of a minute. */
export function createLimiter(
  { name, points, crowd = false, log }: LimiterOptions,
  open: () => RateLimiterAbstract = () => new RateLimiterMemory({ points, duration: 0, keyPrefix: '' }),
  openSketch: () => Sketch = createSketch,
): Limiter {
  /** how many of a key pass before it is counted by itself */
  const inSketch = crowd && points >= leastInCrowd ? Math.floor(points / 2) : 0;
  const begin = (until: number): Counts => {
    const sketch = inSketch > 0 ? openSketch() : null;
    return { until, recent: open(), before: null, keys: 0, sketch };
  };
  let counts = begin(0);

  const current = (): Counts => {
    const now = performance.now();
    if (now >= counts.until) counts = begin(now + minute * 1_000);
    else if (counts.keys >= generation) counts = { ...counts, recent: open(), before: counts.recent, keys: 0 };
    return counts;
  };

  const pass = (error: unknown): null => {
    log.error({ err: error, limiter: name }, 'a rate limiter failed; the request passes');
    return null;
  };

  const consume: Limiter['consume'] = async (key) => {
    const into = current();
    const { recent, before, until } = into;
    try {
      const counted = await recent.consume(key);
      if (!counted.isFirstInDuration) return toUse(counted, until);
      into.keys += 1;
      const known = before && (await before.get(key));
      const earlier = known ? known.consumedPoints : inSketch;
      return toUse(earlier > 0 ? await recent.penalty(key, earlier) : counted, until);
    } catch (refusal) {
      return refusal instanceof RateLimiterRes ? toUse(refusal, until) : pass(refusal);
    }
  };

  const refuse: Limiter['refuse'] = (ctx, { remaining, seconds }, detail) => {
    ctx.set('RateLimit-Policy', `"${name}";q=${points};w=${minute}`);
    ctx.set('RateLimit', `"${name}";r=${remaining};t=${seconds}`);
    throw new Problem('rate_limited', detail, { headers: { 'Retry-After': String(Math.max(1, seconds)) } });
  };

  return {
    consume,
    admit: (ctx, key, detail) => {
      const { sketch } = current();
      if (sketch && sketch.add(key) <= inSketch) return undefined;
      return consume(key).then((use) => {
        if (use && use.consumed > points) refuse(ctx, use, detail);
      });
    },
    refuse,
    look: async (key) => {
      const { recent, before, until } = current();
      try {
        const found = (await recent.get(key)) ?? (before && (await before.get(key)));
        return found && toUse(found, until);
      } catch (error) {
        return pass(error);
      }
    },
  };
}

const toUse = ({ consumedPoints, remainingPoints }: RateLimiterRes, until: number): Use => ({
  consumed: consumedPoints,
  remaining: remainingPoints,
  seconds: Math.ceil((until - performance.now()) / 1_000),
});
