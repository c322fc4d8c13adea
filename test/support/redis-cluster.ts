/** A Redis Cluster of a file's own. */
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { type RedisCluster, startRedisCluster } from '../../scripts/stack/redis-cluster.ts';
import { atEnd } from './at-end.ts';

/** A node that a busy machine holds up for a while is not lost: what its replica does not have yet would be. */
const settings = { 'cluster-node-timeout': '6000' };

export async function openRedisCluster(): Promise<RedisCluster> {
  const dataDir = mkdtempSync(path.join(inject('folder'), 'redis', 'cluster-'));
  const cluster = await startRedisCluster({ dataDir, settings });
  atEnd(() => cluster.stop());
  return cluster;
}
