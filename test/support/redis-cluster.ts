/** A Redis Cluster of a file's own. */
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { type RedisCluster, startRedisCluster } from '../../scripts/stack/redis-cluster.ts';
import { atEnd } from './at-end.ts';

export async function openRedisCluster(): Promise<RedisCluster> {
  const cluster = await startRedisCluster({ dataDir: mkdtempSync(path.join(inject('folder'), 'redis', 'cluster-')) });
  atEnd(() => cluster.stop());
  return cluster;
}
