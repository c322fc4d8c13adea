/** What Redis is in a drill: one server, unless the drill asks for a cluster, or for a server and its replica under sentinels. */
import path from 'node:path';
import type { RedisAddress } from '#libs/runtime/redis';
import type { Run } from '../stack/private-stores.ts';
import { type RedisCluster, startRedisCluster } from '../stack/redis-cluster.ts';
import { type RedisSentinels, startRedisSentinels } from '../stack/redis-sentinels.ts';
import type { RunningServer } from '../stack/server.ts';

/** of the drills on a cluster */
export const clusterShards = 3;

export type EngineKind = 'cluster' | 'sentinels';

export interface Engine {
  address: RedisAddress;
  /** the settings by which a process finds it, where those of one server are not right */
  env: Record<string, string>;
  cluster?: RedisCluster;
  sentinels?: RedisSentinels;
}

/** `server` ends where something else takes its place. */
export async function startEngine(
  { folder, onStop }: Run,
  server: RunningServer,
  kind: EngineKind | undefined,
  settings: Record<string, string>,
): Promise<Engine> {
  if (!kind) return { address: { url: server.url, clusterNodes: [] }, env: {} };
  await server.stop();
  const options = { dataDir: path.join(folder, kind), settings };
  if (kind === 'cluster') {
    const cluster = await startRedisCluster(options);
    onStop(cluster.stop);
    return { address: cluster.address, env: cluster.env, cluster };
  }
  const sentinels = await startRedisSentinels(options);
  onStop(sentinels.stop);
  return { address: sentinels.address, env: sentinels.env, sentinels };
}
