/** Housekeeping: any one worker runs each task. */
import type { Scheduler } from '#libs/runtime/scheduler';
import type { Log } from '#libs/telemetry/log';
import { createTasks, type TaskParts } from './tasks.ts';

export interface HousekeepingParts extends Omit<TaskParts, 'log' | 'signal'> {
  /** milliseconds of a second between two rounds */
  pace: number;
  log: Log;
}

/** Returns the names of the tasks. */
export function scheduleHousekeeping(
  { every }: Pick<Scheduler, 'every'>,
  { pace, ...parts }: HousekeepingParts,
): string[] {
  const tasksOf = (signal: AbortSignal): Record<string, () => Promise<void>> => createTasks({ ...parts, signal });
  const hour = 3_600 * pace;
  const paces: Record<string, number | undefined> = {
    ...Object.fromEntries(Object.keys(tasksOf(new AbortController().signal)).map((name) => [name, hour])),
    visitors: 5 * pace,
    retention: parts.retentionMonths > 0 ? hour : undefined,
    personalRetention: parts.personalRetentionMonths > 0 ? hour : undefined,
  };
  return Object.entries(paces).flatMap(([name, pause]) => {
    if (pause === undefined) return [];
    every({
      name,
      pace: pause,
      one: true,
      task: async (signal) => tasksOf(signal)[name]?.(),
      failed: (error, isNews) => {
        if (isNews) parts.log.error({ err: error, task: name }, 'housekeeping failed');
      },
    });
    return [name];
  });
}
