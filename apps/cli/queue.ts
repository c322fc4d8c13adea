import { Command } from 'commander';
import { print, withQueues } from './session.ts';

const shownFailures = 20;

export function queueCommand(): Command {
  const command = new Command('queue').description('the record queues');
  command
    .command('status')
    .alias('show')
    .description('jobs by state, and the errors of the newest failed ones')
    .action(async (_: object, self: Command) => {
      const status = await withQueues(async (queues) => {
        // imported here: it loads BullMQ, which most commands do not need
        const { summarize } = await import('#libs/queue/summary');
        const { jobs, oldest } = await summarize(queues);
        const failed = (await Promise.all(queues.map((queue) => queue.getFailed(0, shownFailures - 1)))).flat();
        return {
          ...jobs,
          oldestSeconds: Math.round(oldest),
          failures: failed.map((job) => ({ jobId: job.id ?? '', error: job.failedReason ?? '' })),
        };
      });
      print(self, status);
    });
  command
    .command('retry-failed')
    .description('retry failed jobs; safe to repeat, since each record is stored once')
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
