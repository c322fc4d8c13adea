/** `queue discard`: a job that no worker can read fails again whenever it is retried, so it leaves the queue for a file. */
import { open } from 'node:fs/promises';
import type { Job } from 'bullmq';
import { Command } from 'commander';
import { jobVersion, unpackJob, versionedPayload } from '#libs/contract/job';
import { packedFor } from './gzipped.ts';
import type { QueueTools } from './queue.ts';
import { print } from './session.ts';

export const discardCommand = (tools: QueueTools): Command =>
  new Command('discard')
    .description('take failed jobs that cannot be read out of the queues, after they were written to a file')
    .requiredOption('--out <file>', 'add them to this file, each with its error')
    .action(async ({ out }: { out: string }, self: Command) => {
      const discarded = await tools.queues(async (queues, shards) => {
        const failed = await Promise.all(queues.map((queue) => queue.getFailed()));
        const found = failed.flatMap((jobs, at) =>
          jobs.filter(isUnreadable).map((job) => ({ job, shard: shards[at] ?? at })),
        );
        if (found.length > 0) await append(out, found.map(toLine).join(''));
        for (const { job } of found) await job.remove();
        return found.length;
      });
      print(self, { discarded });
    });

/** By this release: one of a newer release is for its workers. */
function isUnreadable({ data }: Job<unknown>): boolean {
  const version = versionedPayload.safeParse(data);
  if (version.success && version.data.v > jobVersion) return false;
  try {
    unpackJob(data);
    return false;
  } catch {
    return true;
  }
}

function toLine({ job, shard }: { job: Job<unknown>; shard: number }): string {
  const { id, timestamp, failedReason, data } = job;
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
