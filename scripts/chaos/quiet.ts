/** What a run waits for before its promises are checked: nothing is under way any more. */
import type { Sql } from '#libs/base/db/database';
import { knownShards, queuePrefix, recordQueue } from '#libs/record/queue';
import { isReady } from '#libs/stats/redis/fill';
import { describe } from '../stack/advice.ts';
import { waitUntil } from '../stack/wait.ts';
import { describeDeriving } from './deriving.ts';
import type { ChaosStack } from './stack.ts';

/** Waits until no job is left, no raise is owed and Redis has the counters of every organization. */
export async function untilQuiet(stack: ChaosStack, within = 90_000): Promise<void> {
  let noise = '';
  const isQuiet = async () => {
    noise = await findNoise(stack).catch(describe);
    return noise === '';
  };
  if (await waitUntil(isQuiet, { deadlineMs: within, intervalMs: 100 })) return;
  throw new Error(`I5: not quiet within ${within} ms: ${noise}; ${await describeDeriving(stack).catch(describe)}`);
}

/** What is still under way; all of these counts are 0 once all is quiet. */
const waiting: Record<string, (sql: Sql) => Promise<{ n: number }[]>> = {
  'raises are owed': (sql) => sql`select count(*)::int as n from owed_raises`,
  'records are under no checkpoint': (sql) => sql`
    select (
      (select count(*) from records)
      - (select coalesce(sum(checkpoint_size), 0) from logs)
      + (select count(*) from log_texts join logs using (domain_number, log) where position < checkpoint_size)
    )::int as n`,
  'records are in no facet': (sql) => sql`
    select count(*)::int as n from records
    where epoch > coalesce((select epoch from derivations where name = 'facets'), 0)`,
};

/** What is still under way, in words; empty when nothing is. */
async function findNoise(stack: ChaosStack): Promise<string> {
  const { wait, active, delayed } = await countJobs(stack);
  if (wait + active + delayed > 0) return `${wait} jobs wait, ${active} are active, ${delayed} delayed`;
  for (const [what, query] of Object.entries(waiting)) {
    const n = await stack.count(query);
    if (n !== 0) return `${n} ${what}`;
  }
  const ids = stack.sites.map(({ organizationId }) => organizationId);
  const ready = await Promise.all(ids.map((id) => isReady(stack.counters, id)));
  return ready.every(Boolean) ? '' : 'counters are not ready in Redis';
}

/** In all shards, also those of an earlier QUEUE_SHARDS. */
export async function countJobs({ counters: { client } }: ChaosStack) {
  const jobs = { wait: 0, active: 0, delayed: 0, failed: 0 };
  for (const shard of await knownShards(client, 1)) {
    const keyOf = (state: string) => `${queuePrefix}:${recordQueue(shard)}:${state}`;
    jobs.wait += await client.llen(keyOf('wait'));
    jobs.active += await client.llen(keyOf('active'));
    jobs.delayed += await client.zcard(keyOf('delayed'));
    jobs.failed += await client.zcard(keyOf('failed'));
  }
  return jobs;
}
