import { open } from 'node:fs/promises';
import type { Job, Queue } from 'bullmq';
import { Command } from 'commander';
import { packedFor } from '#libs/base/cli/gzipped';
import { isJson, print, printList, type Tools } from '#libs/base/cli/session';
import { wholeNumber } from '#libs/base/cli/whole-number';
import { isOfNewer, unpackJob } from './queue.ts';
import type { QueueSummary } from './queue-summary.ts';

const shownFailures = 20;
const pageSize = 100;
const shardNumber = wholeNumber(Number.MAX_SAFE_INTEGER, 0);

export interface QueueTools extends Tools<{ connections(): { queueShards: number } }> {
  /** The queue of each shard that is known, in the order of `shards`. */
  queues<T>(work: (queues: Queue[], shards: number[]) => Promise<T>): Promise<T>;
}

export function queueCommand(tools: QueueTools): Command {
  const command = new Command('queue').description('the record queues');
  command
    .command('status')
    .alias('show')
    .description('jobs by state, of each shard too, and the errors of the newest failed ones')
    .action(async (_: object, self: Command) => {
      const { shards, failures, ...all } = await tools.queues(readStatus);
      if (isJson(self)) return print(self, { ...all, shards, failures });
      print(self, all);
      if (shards.length > 1) printList(self, 'shards', shards);
      if (failures.length > 0) printList(self, 'failures', failures);
    });
  command
    .command('retry-failed')
    .description('retry failed jobs; safe to repeat, since each record is stored once')
    .action(async (_: object, self: Command) => {
      const retried = await tools.queues(async (queues) => {
        let count = 0;
        for (const queue of queues) {
          count += await takeFailed(queue, async (jobs) => {
            const anew = { resetAttemptsMade: true, resetAttemptsStarted: true };
            for (const job of jobs) await job.retry('failed', anew);
            return jobs.length;
          });
        }
        return count;
      });
      print(self, { retried });
    });
  command
    .command('forget')
    .argument('<shard...>', 'their numbers', (text, before: number[] = []) => [...before, shardNumber(text)])
    .description("end the workers' consumers of empty shards that QUEUE_SHARDS no longer names; takes six seconds")
    .action(async (shards: number[], _: object, self: Command) => {
      const { queueShards } = tools.config().connections();
      const named = shards.find((shard) => shard < queueShards);
      if (named !== undefined) throw new Error(`QUEUE_SHARDS is ${queueShards}, which includes shard ${named}`);
      // imported here, as below
      const { forgetShards } = await import('./queue-forget.ts');
      await tools.redis((redis) => forgetShards(redis, shards));
      print(self, { forgotten: shards });
    });
  command
    .command('discard')
    .description('take failed jobs that cannot be read out of the queues, after they were written to a file')
    .requiredOption('--out <file>', 'add them to this file, each with its error')
    .action(async ({ out }: { out: string }, self: Command) => {
      // such a job fails again whenever it is retried
      const discarded = await tools.queues(async (queues, shards) => {
        let count = 0;
        for (const [at, queue] of queues.entries()) {
          count += await takeFailed(queue, async (jobs) => {
            const found = jobs.filter(isUnreadable);
            if (found.length > 0) await append(out, found.map((job) => toLine(job, shards[at] ?? at)).join(''));
            for (const job of found) await job.remove();
            return found.length;
          });
        }
        return count;
      });
      print(self, { discarded });
    });
  return command;
}

async function readStatus(queues: Queue[], shards: number[]) {
  // imported here: it loads BullMQ, which most commands do not need
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
 * All that have failed by now, the oldest first; a page at a time, since each may hold hundreds of records. `take` returns
 * how many of these it has taken out, and this how many in all. What fails again meanwhile comes behind.
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

/** Whether no worker of this release can read it; one of a newer release is for its workers. */
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
