/**
 * Learns from the sentinels which server is the master. A master that they replaced during a planned failover still accepts
 * writes for some ten seconds, until they make it a replica, and then loses them.
 */
import { Redis, type RedisOptions } from 'ioredis';

type Sentinel = Pick<RedisOptions, 'host' | 'port' | 'password' | 'tls'>;

/** Calls `onPromotion` once for each sentinel that reports one. Returns a function that stops following. */
export function followPromotions(sentinels: Sentinel[], master: string, onPromotion: () => void): () => void {
  const followers = sentinels.map((sentinel) => {
    const follower = new Redis({
      ...sentinel,
      enableReadyCheck: false,
      maxRetriesPerRequest: null,
      // milliseconds
      connectTimeout: 5_000,
      keepAlive: 10_000,
    });
    follower.on('error', () => {});
    follower.on('message', (_channel, message) => {
      if (message.startsWith(`${master} `)) onPromotion();
    });
    follower.subscribe('+switch-master').catch(() => {});
    return follower;
  });
  return () => {
    for (const follower of followers) follower.disconnect();
  };
}
