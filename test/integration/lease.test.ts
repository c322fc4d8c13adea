import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { withLease } from '#libs/counters/lease';
import type { RedisConnection } from '#libs/runtime/redis';
import { openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

describe('a lease', () => {
  let url: string;
  let connection: RedisConnection;

  beforeAll(async () => {
    ({ url } = await openRedisServer());
    connection = await openRedis(url);
  });
  beforeEach(() => connection.client.flushall());
  afterEach(() => vi.useRealTimers());

  const key = 'assent:lease:test';
  const take = (work: (lost: AbortSignal) => Promise<void>, turn = 0) =>
    withLease(connection, { name: 'test', turn }, work);
  const nothing = async () => {};
  /** A piece of work that ends when told to. */
  const held = () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    return { work: () => ended, end };
  };

  it('is one process’s at a time, and free once the work is done', async () => {
    const { work, end } = held();
    const first = take(work);
    await eventually(async () => expect(await connection.client.exists(key)).toBe(1));
    expect(await take(nothing)).toBe(false);
    end();
    expect(await first).toBe(true);
    expect(await take(nothing)).toBe(true);
  });

  it('is free once the work has failed, with its error', async () => {
    await expect(take(() => Promise.reject(new Error('of the work')))).rejects.toThrow('of the work');
    expect(await take(nothing)).toBe(true);
  });

  it('keeps others out for the rest of its turn', async () => {
    expect(await take(nothing, 60_000)).toBe(true);
    expect(await take(nothing)).toBe(false);
    expect(await connection.client.pttl(key)).toBeGreaterThan(50_000);
  });

  it('is renewed while the work lasts', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { work, end } = held();
    const first = take(work);
    await eventually(async () => expect(await connection.client.exists(key)).toBe(1));
    await connection.client.pexpire(key, 4_000);
    vi.advanceTimersByTime(4_000);
    await eventually(async () => expect(await connection.client.pttl(key)).toBeGreaterThan(5_000));
    end();
    await first;
  });

  it('tells its owner that it is lost, and leaves the one of another alone', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    let lost: AbortSignal | undefined;
    const { work, end } = held();
    const first = take((signal) => {
      lost = signal;
      return work();
    });
    await eventually(async () => expect(await connection.client.exists(key)).toBe(1));
    await connection.client.set(key, 'of another', 'PX', 60_000);
    vi.advanceTimersByTime(4_000);
    await eventually(async () => expect(lost?.aborted).toBe(true));
    end();
    await first;
    expect(await connection.client.get(key)).toBe('of another');
  });

  it('is not taken while Redis is away, and the work is not begun', async () => {
    const away = await openRedis(url);
    await away.close();
    await eventually(async () => expect(away.runIdOf(key)).toBeUndefined());
    const work = vi.fn(nothing);
    expect(await withLease(away, { name: 'test', turn: 0 }, work)).toBe(false);
    expect(work).not.toHaveBeenCalled();
  });
});
