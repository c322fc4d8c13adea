/** The names of the queues, one per shard. The braces keep all keys of a queue in one Redis Cluster slot. */
import { createHash } from 'node:crypto';

export const queuePrefix = 'assent';
export const recordQueue = (shard: number): string => `{record-${shard}}`;
export const maintenanceQueue = '{maintenance}';

/** An organization's records always go through the same queue. */
export function shardOf(organizationId: string, shards: number): number {
  if (shards === 1) return 0;
  return createHash('sha256').update(organizationId).digest().readUInt32BE(0) % shards;
}
