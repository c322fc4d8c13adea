import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { describe, expect, it, vi } from 'vitest';
import { createLog } from '#libs/telemetry/log';
import { createLimiter } from '../../apps/api/access/limiter.ts';
import { createSketch } from '../../apps/api/access/sketch.ts';

const bound = 50_000;

function openLog() {
  const lines: string[] = [];
  return { lines, log: createLog('test', 'info', { write: (line) => void lines.push(line) }) };
}

describe('a limiter', () => {
  it('counts each key for itself, and keeps counting past the limit', async () => {
    const limiter = createLimiter({ name: 'test', points: 2, ...openLog() });
    expect(await limiter.look('a')).toBeNull();
    for (const consumed of [1, 2, 3]) expect(await limiter.consume('a')).toMatchObject({ consumed });
    expect(await limiter.consume('b')).toMatchObject({ consumed: 1, remaining: 1 });
    expect(await limiter.look('a')).toMatchObject({ consumed: 3, remaining: 0 });
  });

  it('holds a bounded number of keys, however many come, and the one that floods is among them', async () => {
    const opened: RateLimiterMemory[] = [];
    const open = () => {
      const generation = new RateLimiterMemory({ points: 10, duration: 0, keyPrefix: '' });
      opened.push(generation);
      return generation;
    };
    const limiter = createLimiter({ name: 'test', points: 10, ...openLog() }, open);
    let flood = 0;
    for (let key = 0; key < 4 * bound; key += 1) {
      await limiter.consume(`address-${key}`);
      if (key % 1_000 === 0) flood = (await limiter.consume('flood'))?.consumed ?? 0;
    }
    const sizes = opened.map((generation) => generation.dump().storage.length);
    expect(sizes.length).toBeGreaterThanOrEqual(4);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(bound);
    expect(flood).toBe((4 * bound) / 1_000);
    expect(await limiter.look('address-0')).toBeNull();
    expect(await limiter.look(`address-${4 * bound - 1}`)).toMatchObject({ consumed: 1, remaining: 9 });
  });

  it('begins anew after a minute, and says how long that is', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const limiter = createLimiter({ name: 'test', points: 2, ...openLog() });
    expect(await limiter.consume('a')).toMatchObject({ consumed: 1, seconds: 60 });
    vi.advanceTimersByTime(59_500);
    expect(await limiter.consume('a')).toMatchObject({ consumed: 2, seconds: 1 });
    vi.advanceTimersByTime(500);
    expect(await limiter.look('a')).toBeNull();
    expect(await limiter.consume('a')).toMatchObject({ consumed: 1, seconds: 60 });
    vi.useRealTimers();
  });

  describe('for keys that come in crowds', () => {
    /** A limiter, whether it admits one more of a key, and the keys that it counts one by one. */
    const crowded = (points: number, places?: number) => {
      const generations: RateLimiterMemory[] = [];
      const open = () => {
        const generation = new RateLimiterMemory({ points, duration: 0, keyPrefix: '' });
        generations.push(generation);
        return generation;
      };
      const limiter = createLimiter({ name: 'test', points, crowd: true, ...openLog() }, open, () =>
        createSketch(places),
      );
      const admits = async (key: string) => {
        try {
          await limiter.admit({ set: () => {} } as never, key, 'too many');
          return true;
        } catch {
          return false;
        }
      };
      const counted = () => generations.flatMap((each) => each.dump().storage.map(({ key }) => key));
      return { admits, counted };
    };
    const admitted = async (times: number, admit: () => Promise<boolean>) => {
      let count = 0;
      for (let time = 0; time < times; time += 1) count += Number(await admit());
      return count;
    };

    it('a key has exactly its limit, however large or small', async () => {
      for (const points of [1, 5, 99, 100, 101, 600]) {
        const { admits } = crowded(points);
        expect(await admitted(points + 50, () => admits('203.0.113.9'))).toBe(points);
      }
    });

    it('those that come a few times are not kept one by one, and one that floods among them is', async () => {
      const { admits, counted } = crowded(600);
      let flood = 0;
      for (let visitor = 0; visitor < 100_000; visitor += 1) {
        expect(await admits(`visitor-${visitor}`)).toBe(true);
        if (visitor % 100 === 0) flood += Number(await admits('flood'));
      }
      // the few beside it share its place, and count with it for half of the limit
      expect(counted()).toContain('flood');
      expect(counted().length).toBeLessThan(30);
      expect(flood).toBeGreaterThan(590);
      expect(flood).toBeLessThanOrEqual(600);
    });

    it('a key that shares its place with a flood has half of the limit left', async () => {
      const { admits, counted } = crowded(100, 1);
      for (let other = 0; other < 50; other += 1) expect(await admits(`other-${other}`)).toBe(true);
      expect(counted()).toEqual([]);
      expect(await admitted(200, () => admits('shares'))).toBe(50);
    });

    it('begins anew after a minute', async () => {
      vi.useFakeTimers({ toFake: ['performance'] });
      const { admits } = crowded(100);
      expect(await admitted(150, () => admits('a'))).toBe(100);
      vi.advanceTimersByTime(60_000);
      expect(await admitted(150, () => admits('a'))).toBe(100);
      vi.useRealTimers();
    });
  });

  it('that fails lets the request pass, and says so in the log', async () => {
    const gone = new Redis('redis://127.0.0.1:1', { enableOfflineQueue: false, retryStrategy: () => null });
    gone.on('error', () => {});
    const { lines, log } = openLog();
    const open = () => new RateLimiterRedis({ storeClient: gone, points: 1, duration: 60 });
    const limiter = createLimiter({ name: 'test', points: 1, log }, open);
    expect(await limiter.consume('a')).toBeNull();
    expect(await limiter.look('a')).toBeNull();
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', limiter: 'test' });
    gone.disconnect();
  });
});
