import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { describe, expect, it, vi } from 'vitest';
import { createLog } from '#libs/telemetry/log';
import { createLimiter } from '../../apps/api/limiter.ts';

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
