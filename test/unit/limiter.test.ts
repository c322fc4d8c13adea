import { afterEach, describe, expect, it, vi } from 'vitest';
import { Problem } from '#libs/contract/problem';
import { createLimiter } from '../../apps/api/access/limiter.ts';
import type { Context } from '../../apps/api/http/context.ts';

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

/** What a limiter does with one more of a key. */
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
  afterEach(() => void vi.useRealTimers());

  it.each([1, 5, 99, 100, 101, 600])('admits exactly %i of a key', (limit) => {
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
    const limiter = limited(4 * generation);
    const remembers = limited(1);
    let flood = 0;
    for (let key = 0; key < 4 * generation; key += 1) {
      limiter.count(`address-${key}`);
      remembers.count(`address-${key}`);
      if (key % 100 === 0) {
        remembers.count('flood');
        flood += Number(remembers.isReached('flood'));
      }
    }
    expect(flood).toBe((4 * generation) / 100);
    const remembered = Array.from({ length: 4 * generation }, (_, key) => remembers.isReached(`address-${key}`));
    expect(remembered.filter(Boolean).length).toBeLessThanOrEqual(2 * generation);
    expect(remembered.at(-1)).toBe(true);
  });

  it('keeps the count of a key that comes again across generations', () => {
    const limiter = limited(600);
    let flood = 0;
    for (let visitor = 0; visitor < 4 * generation; visitor += 1) {
      limiter.count(`visitor-${visitor}`);
      if (visitor % 100 === 0) flood += Number(admits(limiter, 'flood'));
    }
    expect(flood).toBe(600);
  });

  it('begins anew after a minute, and says how long that is', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const limiter = limited(2);
    expect(admitted(3, () => admits(limiter, 'a'))).toBe(2);
    vi.advanceTimersByTime(59_500);
    const { ctx, headers } = open();
    expect(() => limiter.admit(ctx, 'a')).toThrow('at most 2');
    expect(headers).toEqual({ 'RateLimit-Policy': '"test";q=2;w=60', RateLimit: '"test";r=0;t=1' });
    vi.advanceTimersByTime(500);
    expect(admitted(3, () => admits(limiter, 'a'))).toBe(2);
  });

  it('of 0 is none', () => {
    const limiter = limited(0);
    expect(admitted(1_000, () => admits(limiter, 'a'))).toBe(1_000);
    expect(limiter.isReached('a')).toBe(false);
  });
});
