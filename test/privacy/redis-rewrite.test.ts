import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { requestRewrite, rewriteFile } from '#libs/base/redis/aof-rewrite';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { RunningRedis } from '../../scripts/stack/redis.ts';
import { restartRedis } from '../support/outage.ts';
import { openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const secret = 'erased-7f3a';

describe("a rewrite of Redis' file", () => {
  let server: RunningRedis;
  let redis: RedisConnection;

  const isInFile = (): boolean => {
    const folder = path.join(server.dataDir, 'appendonlydir');
    return readdirSync(folder).some((name) => readFileSync(path.join(folder, name)).includes(secret));
  };
  const countRewrites = async () =>
    Number(/^cmdstat_bgrewriteaof:calls=(\d+)/m.exec(await redis.client.info('commandstats'))?.[1] ?? 0);
  const begin = async () => {
    await redis.client.del('assent:rewritten');
    await rewriteFile(redis.client);
  };

  beforeEach(async () => {
    server = await openRedisServer();
    redis = await openRedis(server.url);
    // the daily one has been
    await redis.client.set('assent:rewritten-today', '1');
    for (let each = 0; each < 100; each += 1) await redis.client.set(`key-${each}`, each);
    await redis.client.set(secret, '1');
    await redis.client.del(secret);
  });

  it('comes once it is wanted, whichever worker runs, and no second time', async () => {
    await begin();
    expect([await countRewrites(), isInFile()]).toEqual([0, true]);
    await requestRewrite(redis.client);
    redis = await openRedis(server.url);
    await begin();
    await eventually(() => expect(isInFile()).toBe(false));
    await eventually(async () => {
      await begin();
      expect(await redis.client.hget('assent:rewrite', 'done')).toBe('1');
    });
    const before = await countRewrites();
    await begin();
    expect(await countRewrites()).toBe(before);
  });

  it('comes although it was noted, while the clock of Redis was 400 days ahead, that one had just been', async () => {
    for (const key of ['assent:rewritten', 'assent:rewritten-today'])
      await redis.client.set(key, '1', 'PX', 400 * 86_400_000);
    await rewriteFile(redis.client);
    await eventually(() => expect(isInFile()).toBe(false));
  });

  it('begins again where Redis was killed in the middle of it', async () => {
    await requestRewrite(redis.client);
    // a hundred keys take a minute
    await redis.client.config('SET', 'rdb-key-save-delay', '600000');
    await begin();
    await eventually(async () => expect(await redis.client.info('persistence')).toContain('aof_rewrite_in_progress:1'));
    server.kill();
    await server.exited;
    await restartRedis(server);
    redis = await openRedis(server.url);
    expect(isInFile()).toBe(true);
    await eventually(async () => {
      await begin();
      expect(isInFile()).toBe(false);
    });
  });
});
