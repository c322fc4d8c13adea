import { Command } from 'commander';
import { isJson, print, printList, type Tools } from '#libs/base/cli/session';
import type { RedisConnection } from '#libs/base/redis/connection';
import { checkLogs } from './check/check.ts';

export function checkCommand(tools: Tools): Command {
  return new Command('check')
    .description('recompute the logs from the stored records; exit with 1 on any difference; safe under traffic')
    .option('--domain <domain>', 'only this domain')
    .action(async ({ domain: domainId }: { domain?: string }, self: Command) => {
      const progress = process.stderr.isTTY ? createProgress() : undefined;
      const { checked, differences, comparedWithRedis } = await tools.database(async (db) => {
        if (domainId !== undefined) {
          const [domain] = await db.run((sql) => sql`select from domains where id = ${domainId}`);
          if (!domain) throw new Error(`no domain ${domainId}`);
        }
        return withWitness(tools, async (redis) => ({
          ...(await checkLogs({ db, redis, domainId, ...(progress && { progress: progress.show }) })),
          comparedWithRedis: redis !== undefined,
        }));
      });
      progress?.end();
      if (isJson(self)) print(self, { checked, comparedWithRedis, differences });
      else {
        print(self, { checked, comparedWithRedis, differences: differences.length });
        if (differences.length > 0)
          printList(
            self,
            'differences',
            differences.map((difference) => ({ ...difference })),
          );
      }
      if (differences.length > 0) process.exitCode = 1;
    });
}

/** With Redis where it answers; otherwise only Postgres is checked. */
async function withWitness<T>(tools: Tools, work: (redis: RedisConnection | undefined) => Promise<T>): Promise<T> {
  let isConnected = false;
  try {
    return await tools.redis((redis) => {
      isConnected = true;
      return work(redis);
    });
  } catch (error) {
    if (isConnected) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`not compared with what Redis remembers: ${reason}\n`);
    return work(undefined);
  }
}

/** One line on a terminal. */
function createProgress() {
  const started = performance.now();
  let shown = 0;
  return {
    show: (checked: number) => {
      const now = performance.now();
      if (now < shown + 200) return;
      shown = now;
      const rate = Math.round(checked / ((now - started) / 1_000));
      process.stderr.write(`\r\u001b[K${checked} entries, ${rate}/s`);
    },
    end: () => process.stderr.write('\r\u001b[K'),
  };
}
