import { open } from 'node:fs/promises';
import type { Job, Queue } from 'bullmq';
import { Command } from 'commander';
import { z } from 'zod';
import { packedFor } from '#libs/base/cli/gzipped';
import { isJson, listed, print, type Tools } from '#libs/base/cli/session';
import { flags, none, verbsOf } from '#libs/base/cli/verb';
import { wholeNumber } from '#libs/base/cli/whole-number';
import { isOfNewer, unpackJob } from './queue.ts';
import type { QueueSummary } from './queue-summary.ts';

const shownFailures = 20;
const pageSize = 100;
const shardNumber = wholeNumber(Number.MAX_SAFE_INTEGER, 0);

export interface QueueTools extends Tools<{ connections(): { queueShards: number } }> {
  /** The queues of all known shards, in the order of `shards`. */
  queues<T>(work: (queues: Queue[], shards: number[]) => Promise<T>): Promise<T>;
}

export function queueCommand(tools: QueueTools): Command {
  const noun = new Command('queue').description('the record queues');
  const verb = verbsOf(noun);
  /** Passes the failed jobs of all queues to `take`. Resolves to the number of jobs taken out. */
  const takeAll = (take: (jobs: Job<unknown>[], shard: number) => Promise<number>) =>
    tools.queues(async (queues, shards) => {
      let count = 0;
      for (const [at, queue] of queues.entries())
        count += await takeFailed(queue, (jobs) => take(jobs, shards[at] ?? at));
      return count;
    });

  verb('status', none, async () => {
    const { shards, failures, ...all } = await tools.queues(readStatus);
    return async (self) => {
      if (isJson(self)) return print(self, { ...all, shards, failures });
      print(self, all);
      if (shards.length > 1) await listed('shards', shards)(self);
      if (failures.length > 0) await listed('failures', failures)(self);
    };
  })
    .alias('show')
    .description('jobs by state, of each shard too, and the errors of the newest failed ones');

  verb('retry-failed', none, async () => ({
    retried: await takeAll(async (jobs) => {
      const reset = { resetAttemptsMade: true, resetAttemptsStarted: true };
      for (const job of jobs) await job.retry('failed', reset);
      return jobs.length;
    }),
  })).description('retry failed jobs; safe to repeat, since each record is stored once');

  noun
    .command('forget')
    .argument('<shard...>', 'their numbers', (text, before: number[] = []) => [...before, shardNumber(text)])
    .description("end the workers' consumers of empty shards that QUEUE_SHARDS no longer names; takes six seconds")
    .action(async (shards: number[], _: object, self: Command) => {
      const { queueShards } = tools.config().connections();
      const named = shards.find((shard) => shard < queueShards);
      if (named !== undefined) throw new Error(`QUEUE_SHARDS is ${queueShards}, which includes shard ${named}`);
      const { forgetShards } = await import('./queue-forget.ts');
      await tools.redis((redis) => forgetShards(redis, shards));
      print(self, { forgotten: shards });
    });

  const outFlags = flags(z.object({ out: z.string() }), {
    out: ['--out <file>', 'add them to this file, each with its error'],
  });
  verb('discard', outFlags, async ({ out }) => ({
    // only unreadable jobs: they would fail again on every retry
    discarded: await takeAll(async (jobs, shard) => {
      const found = jobs.filter(isUnreadable);
      if (found.length > 0) await append(out, found.map((job) => toLine(job, shard)).join(''));
      for (const job of found) await job.remove();
      return found.length;
    }),
  })).description('remove failed jobs that cannot be read, after writing them to a file');
  return noun;
}

async function readStatus(queues: Queue[], shards: number[]) {
  // imported lazily: it loads BullMQ, which most commands do not need
  const { summarizeOne, sumUp } = await import('./queue-summary.ts');
  const summaries = await Promise.all(queues.map((queue) => summarizeOne(queue)));
  const flat = ({ jobs, oldest }: QueueSummary) => ({ ...jobs, oldestSeconds: Math.round(oldest) });
  const failed = await Promise.all(queues.map((queue) => queue.getFailed(0, shownFailures - 1)));
  return {
    ...flat(sumUp(summaries)),
    shards: summaries.map((summary, at) => ({ shard: shards[at] ?? at, ...flat(summary) })),
    failures: failed.flatMap((jobs, at) =>
      jobs.map((job) => ({ shard: shards[at] ?? at, jobId: job.id ?? '', error: job.failedReason ?? '' })),
    ),
  };
}

/**
 * Passes all jobs that have failed so far to `take`, oldest first, one page at a time, since a job may hold hundreds of
 * records. `take` returns how many it has taken out; the result is their sum. Jobs that fail again join the end.
 */
async function takeFailed(queue: Queue, take: (jobs: Job<unknown>[]) => Promise<number>): Promise<number> {
  let taken = 0;
  let from = 0;
  for (let left = await queue.getFailedCount(); left > 0; left -= pageSize) {
    const size = Math.min(left, pageSize);
    const some = await take(await queue.getJobs(['failed'], from, from + size - 1, true));
    taken += some;
    from += size - some;
  }
  return taken;
}

/** Whether no worker can read the job. Jobs of a newer release are left for the workers of that release. */
function isUnreadable({ data }: Job<unknown>): boolean {
  if (isOfNewer(data)) return false;
  try {
    unpackJob(data);
    return false;
  } catch {
    return true;
  }
}

function toLine({ id, timestamp, failedReason, data }: Job<unknown>, shard: number): string {
  const addedAt = new Date(timestamp).toISOString();
  return `${JSON.stringify({ shard, jobId: id, addedAt, error: failedReason, data })}\n`;
}

async function append(file: string, text: string): Promise<void> {
  const handle = await open(file, 'a', 0o600);
  try {
    await handle.writeFile(await packedFor(file, text));
    await handle.sync();
  } finally {
    await handle.close();
  }
}
