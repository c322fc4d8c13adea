/** Servers that go away and come back. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { migrate } from '#libs/base/db/migrate';
import type { Certificate } from '../../scripts/stack/certificate.ts';
import { type RunningPostgres, startPostgres } from '../../scripts/stack/postgres.ts';
import { type RunningRedis, startRedis } from '../../scripts/stack/redis.ts';
import { atEnd } from './at-end.ts';
import { openRedis, openRedisServer } from './stores.ts';

/** The same server again after `stop`: its data, its port, another run. */
export async function restartRedis(
  stopped: RunningRedis,
  settings: Record<string, string> = {},
): Promise<RunningRedis> {
  const server = await startRedis({ dataDir: path.dirname(stopped.logFile), port: stopped.port, settings });
  atEnd(() => {
    server.kill();
    return server.exited;
  });
  return server;
}

/** Redis accepts connections and does not respond until `thaw`. */
export function freeze({ pid }: { pid: number }): { thaw(): void } {
  process.kill(pid, 'SIGSTOP');
  return { thaw: () => void process.kill(pid, 'SIGCONT') };
}

/** A Redis that refuses INFO, which BullMQ sends first, from `refuse` until `allow`. */
export async function openRefusingRedis() {
  const { url } = await openRedisServer();
  const { client: watcher } = await openRedis(url);
  await watcher.call('ACL', 'SETUSER', 'watcher', 'on', 'nopass', '~*', '+@all');
  await watcher.call('AUTH', 'watcher', '');
  return {
    url,
    refuse: () => watcher.call('ACL', 'SETUSER', 'default', '-info'),
    allow: () => watcher.call('ACL', 'SETUSER', 'default', '+info'),
    refused: async (): Promise<number> => {
      const stats = String(await watcher.call('INFO', 'commandstats'));
      return Number(/cmdstat_info:.*rejected_calls=(\d+)/.exec(stats)?.[1] ?? 0);
    },
  };
}

interface OwnPostgres {
  url: string;
  stop(): Promise<void>;
  /** after `stop`, on the same port */
  start(): Promise<void>;
}

/** A Postgres that a test may stop without harm to the others; migrated by default. */
export async function openOwnPostgres({
  migrated = true,
  certificate,
}: {
  migrated?: boolean;
  certificate?: Certificate;
} = {}): Promise<OwnPostgres> {
  const dataDir = path.join(inject('folder'), `postgres-${randomBytes(4).toString('hex')}`);
  const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };
  let server: RunningPostgres = await startPostgres({ dataDir, settings, certificate });
  atEnd(async () => {
    await server.stop();
    rmSync(server.dataDir, { recursive: true, force: true });
  });
  if (migrated) await migrate(server.url);
  return {
    url: server.url,
    stop: () => server.stop(),
    start: async () => {
      server = await startPostgres({ dataDir: server.dataDir, port: server.port, settings, certificate });
    },
  };
}
