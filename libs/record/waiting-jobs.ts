/** The records of jobs that wait, are delayed, or failed: what no worker holds just now. */
import type { Job, Queue } from 'bullmq';
import type { NewRecord } from './contract.ts';
import { packJob, unpackJob } from './job.ts';
import { rewriteUnreadable } from './unreadable-jobs.ts';

const pageSize = 100;

/** `delayed` and `failed` ones stay for long; those that wait are soon consumed, unless Postgres is away. */
export type JobState = 'waiting' | 'prioritized' | 'delayed' | 'failed';

/** Undefined where they stay as they are; without some of them, or each in its place. */
export type ChangeRecords = (records: NewRecord[]) => Promise<NewRecord[] | undefined>;

/**
 * Replaces the records of every job in these states by what `change` makes of them. A job without records is removed. A job
 * that nobody can read is changed as far as it can be read. A job that a worker takes meanwhile is stored as it was.
 * Returns how many jobs were changed.
 */
export async function rewriteJobs(queue: Queue, states: JobState[], change: ChangeRecords): Promise<number> {
  let changed = 0;
  for (const state of states) {
    // from the newest on: those that are consumed meanwhile leave at the other end
    for (let from = 0; ; from += pageSize) {
      const jobs: Job[] = (await queue.getJobs([state], from, from + pageSize - 1, false)).filter(Boolean);
      for (const job of jobs) {
        const data = await changedData(job, change);
        // one that is gone by now is none
        if (data !== undefined) await replace(job, data).then(() => (changed += 1), ignoreMissing);
      }
      if (jobs.length === 0) break;
    }
  }
  return changed;
}

const replace = (job: Job, data: unknown): Promise<void> => (data === null ? job.remove() : job.updateData(data));

/** Undefined: it stays as it is; null: nothing is left of it. */
async function changedData(job: Job, change: ChangeRecords): Promise<unknown> {
  const records = recordsOf(job);
  if (!records) return rewriteUnreadable(job.data, change);
  const changed = await change(records);
  return changed?.length === 0 ? null : changed && packJob(changed);
}

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
