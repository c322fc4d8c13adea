import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Context } from '#libs/base/http/context';
import { createLimiter } from '#libs/base/http/limiter';
import { Problem } from '#libs/base/terms/problem';

const generation = 50_000;
const limited = (limit: number) => createLimiter({ name: 'test', limit, detail: `at most ${limit}` });

/** A context that keeps the header fields. */
function open() {
  const headers: Record<string, string> = {};
  const set = (name: string, value: string) => {
    headers[name] = value;
  };
  const ctx = { set } as unknown as Context;
  return { headers, ctx };
}

/** Whether a limiter takes one more of a key. */
function admits(limiter: ReturnType<typeof limited>, key: string): boolean {
  try {
    limiter.admit(open().ctx, key);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    return false;
  }
}

const admitted = (times: number, admit: () => boolean): number =>
  Array.from({ length: times }, admit).filter(Boolean).length;

describe('a limiter', () => {
  // no minute ends by itself
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it.each([1, 99, 600])('admits exactly %i of a key', (limit) => {
    const limiter = limited(limit);
    expect(admitted(limit + 50, () => admits(limiter, 'a'))).toBe(limit);
    expect(admits(limiter, 'b')).toBe(true);
  });

  it('checks without counting, and counts without refusing', () => {
    const limiter = limited(2);
    for (let time = 0; time < 5; time += 1) limiter.check(open().ctx, 'a');
    expect(limiter.isReached('a')).toBe(false);
    for (let time = 0; time < 5; time += 1) limiter.count('a');
    expect(limiter.isReached('a')).toBe(true);
    expect(() => limiter.check(open().ctx, 'a')).toThrow(Problem);
    expect(limiter.isReached('b')).toBe(false);
  });

  it('holds a bounded number of keys, however many come, and the one that floods is among them', () => {
    const [limiter, remembers] = [limited(600), limited(1)];
    let [flood, isRemembered] = [0, 0];
    for (let key = 0; key < 3 * generation; key += 1) {
      remembers.count(`address-${key}`);
      if (key % 100 !== 0) continue;
      remembers.count('flood');
      isRemembered += Number(remembers.isReached('flood'));
      // and it keeps its count from one generation to the next
      flood += Number(admits(limiter, 'flood'));
      for (let other = 0; other < 100; other += 1) limiter.count(`visitor-${key + other}`);
    }
    expect([isRemembered, flood]).toEqual([(3 * generation) / 100, 600]);
    const remembered = Array.from({ length: 3 * generation }, (_, key) => remembers.isReached(`address-${key}`));
    expect(remembered.filter(Boolean).length).toBeLessThanOrEqual(2 * generation);
    expect(remembered.at(-1)).toBe(true);
  });

  it('starts again after a minute, and says how long that is', () => {
    const limiter = limited(2);
    expect(admitted(3, () => admits(limiter, 'a'))).toBe(2);
    vi.advanceTimersByTime(59_500);
    const { ctx, headers } = open();
    expect(() => limiter.admit(ctx, 'a')).toThrow('at most 2');
    expect(headers).toEqual({ 'RateLimit-Policy': '"test";q=2;w=60', RateLimit: '"test";r=0;t=1' });
    vi.advanceTimersByTime(500);
    expect(admitted(3, () => admits(limiter, 'a'))).toBe(2);
  });
});
