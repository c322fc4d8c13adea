/** A folder of one run's own below `.data`, with a build, a migrated Postgres and a Redis, all gone at the end. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { migrate } from '#libs/store/migrate';
import { build } from './build.ts';
import { dataRoot, ensureDataRoot, root } from './paths.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

export interface StoreOptions {
  /** what the folder's name begins with */
  name: string;
  say: (line: string) => void;
  /** a build that is there already */
  dist?: string;
  postgresFolder?: string;
  postgresSettings?: Record<string, string>;
  redisSettings?: Record<string, string>;
}

export async function startPrivateStores(options: StoreOptions) {
  const { name, say } = options;
  ensureDataRoot();
  const folder = mkdtempSync(path.join(dataRoot, `${name}-`));
  // the user that Postgres runs as passes through
  chmodSync(folder, 0o711);
  const steps: (() => Promise<unknown> | unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  /** Runs at `stop`; the last one added runs first. */
  const onStop = (step: () => Promise<unknown> | unknown) => void steps.push(step);
  const stop = async () => {
    for (const step of steps.splice(0).reverse()) await step();
  };
  try {
    const dist = options.dist ?? path.join(folder, 'dist');
    if (!options.dist) await build(path.relative(root, dist));
    const postgres = await startPostgres({
      dataDir: options.postgresFolder ?? path.join(folder, 'postgres'),
      settings: options.postgresSettings ?? {},
      say,
    });
    onStop(async () => {
      await postgres.stop();
      rmSync(postgres.dataDir, { recursive: true, force: true });
    });
    const redis = await startRedis({ dataDir: path.join(folder, 'redis'), settings: options.redisSettings ?? {}, say });
    onStop(() => redis.stop());
    await migrate(postgres.url);
    return { folder, dist, postgres, redis, onStop, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
