/** The records of jobs that wait, are delayed, or failed: what no worker holds just now. */
import type { Job, Queue } from 'bullmq';
import { packJob, unpackJob } from '#libs/contract/job';
import type { NewRecord } from '#libs/contract/record';

const pageSize = 100;

/** `delayed` and `failed` ones stay for long; those that wait are soon consumed, unless Postgres is away. */
export type JobState = 'waiting' | 'prioritized' | 'delayed' | 'failed';

/**
 * Replaces the records of every job in these states by what `change` makes of them; undefined leaves a job as it is, and a
 * job without records is removed. A job
 * that a worker takes meanwhile is stored as it was. Returns how many jobs were changed.
 */
export async function rewriteJobs(
  queue: Queue,
  states: JobState[],
  change: (records: NewRecord[]) => Promise<NewRecord[] | undefined>,
): Promise<number> {
  let changed = 0;
  for (const state of states) {
    // from the newest on: those that are consumed meanwhile leave at the other end
    for (let from = 0; ; from += pageSize) {
      const jobs: Job[] = (await queue.getJobs([state], from, from + pageSize - 1, false)).filter(Boolean);
      for (const job of jobs) {
        const records = recordsOf(job);
        const replaced = records && (await change(records));
        // one that is gone by now is none
        if (replaced) await replace(job, replaced).then(() => (changed += 1), ignoreMissing);
      }
      if (jobs.length === 0) break;
    }
  }
  return changed;
}

const replace = (job: Job, records: NewRecord[]): Promise<void> =>
  records.length === 0 ? job.remove() : job.updateData(packJob(records));

function recordsOf(job: Job): NewRecord[] | undefined {
  try {
    return unpackJob(structuredClone(job.data));
  } catch {
    // it waits for a worker of a newer release, or failed because nobody can read it
    return undefined;
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && /missing|locked/i.test(error.message))) throw error;
}
