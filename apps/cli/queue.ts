import { Command } from 'commander';
import { print, withQueues } from './session.ts';

const states = ['waiting', 'active', 'delayed', 'failed'] as const;
const shownFailures = 20;

export function queueCommand(): Command {
  const command = new Command('queue').description('the record queues');
  command
    .command('status')
    .alias('show')
    .description('how many jobs wait, run and failed, and why the newest failed')
    .action(async (_: object, self: Command) => {
      const status = await withQueues(async (queues) => {
        const counts = await Promise.all(queues.map((queue) => queue.getJobCounts(...states)));
        const failed = (await Promise.all(queues.map((queue) => queue.getFailed(0, shownFailures - 1)))).flat();
        const oldest = (await Promise.all(queues.map((queue) => queue.getWaiting(0, 0)))).flat();
        const since = Math.min(Date.now(), ...oldest.map((job) => job.timestamp));
        return {
          ...Object.fromEntries(
            states.map((state) => [state, counts.reduce((sum, count) => sum + (count[state] ?? 0), 0)]),
          ),
          oldestWaitingSeconds: Math.round((Date.now() - since) / 1000),
          failures: failed.map((job) => ({ jobId: job.id ?? '', error: job.failedReason ?? '' })),
        };
      });
      print(self, status);
    });
  command
    .command('retry-failed')
    .description('put failed jobs back to be stored; their records are stored once however often that happens')
    .action(async (_: object, self: Command) => {
      const retried = await withQueues(async (queues) => {
        const jobs = (await Promise.all(queues.map((queue) => queue.getFailed()))).flat();
        for (const job of jobs) await job.retry('failed', { resetAttemptsMade: true });
        return jobs.length;
      });
      print(self, { retried });
    });
  return command;
}
