import path from 'node:path';
import { expect, inject, it } from 'vitest';
import { startRedis } from '../../scripts/stack/redis.ts';
import { openRedisServer } from '../support/stores.ts';

it('a Redis whose port another one has does not start, although that one answers', async () => {
  const { port } = await openRedisServer();
  const dataDir = path.join(inject('folder'), 'redis', 'too-late');
  await expect(startRedis({ dataDir, port })).rejects.toThrow(`Port ${port} is taken`);
});
