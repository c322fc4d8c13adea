/**
 * Schedules tasks: those that every process runs, and those that one process at a time runs, under a lease. One request
 * renews and claims the leases of all tasks together.
 */
import { endsSoon, every, type Rounds, type Task, watchOutcomes, within } from './timers.ts';

/** How long a lease lasts, and how long we wait for the response to a claim, both as multiples of the claim interval. */
const claimsPerLease = 10;
const claimsPerTimeout = 3;

interface ScheduledTask extends Task {
  /** One process at a time runs it. Two at once, as after a lost lease, must do no harm. */
  exclusive?: boolean;
}

/** Where processes agree who runs which task. Times are milliseconds. */
export interface TaskLeases {
  /** Renews the leases of `held` and claims the tasks of `wanted` that are due. Returns the names of those it got. */
  claim(held: string[], wanted: { name: string; pace: number }[], lease: number): Promise<string[]>;
  /** The task is due again in `wait`, or at once if `makeDue` was called meanwhile. */
  release(name: string, outcome: { succeeded: boolean; wait: number }): Promise<void>;
  makeDue(name: string): Promise<void>;
}

export interface Scheduler {
  every(task: ScheduledTask): Rounds;
  /** Stops all rounds. */
  close(): Promise<void>;
}

interface LeasedTask extends Task {
  outcomes: ReturnType<typeof watchOutcomes>;
  /** while this process runs it */
  held: { until: number; ending: AbortController; work: Promise<void> } | undefined;
}

/** `pace`: milliseconds between two claims. */
export function createScheduler({
  leases,
  pace,
  failed,
}: {
  leases: TaskLeases;
  pace: number;
  /** called for each failed claim */
  failed: Task['failed'];
}): Scheduler {
  const lease = claimsPerLease * pace;
  const all: Rounds[] = [];
  const leased = new Map<string, LeasedTask>();
  let isStopping = false;

  const run = async ({ name, pace: wait, task, outcomes }: LeasedTask, signal: AbortSignal) => {
    let succeeded = false;
    try {
      await task(signal);
      succeeded = !signal.aborted;
      outcomes.succeeded();
    } catch (error) {
      // an interrupted task may fail because of that
      if (!signal.aborted) outcomes.failed(error);
    }
    // A claim comes only once per `pace` of the scheduler, so the task is due half a `pace` early: a claim just before its
    // time still gets it. An interrupted task is due at once.
    const outcome = { succeeded, wait: signal.aborted ? 0 : Math.max(0, wait - pace / 2) };
    // if this fails, the lease ends by itself
    await leases.release(name, outcome).catch(() => {});
  };
  const begin = (task: LeasedTask, until: number) => {
    const ending = new AbortController();
    const work = run(task, ending.signal).finally(() => {
      task.held = undefined;
    });
    task.held = { until, ending, work };
  };
  const claim = async () => {
    const asked = performance.now();
    const tasks = [...leased.values()];
    const [held, idle] = [tasks.filter((each) => each.held), tasks.filter((each) => !each.held)];
    for (const task of held) if (task.held && task.held.until < asked) task.held.ending.abort();
    const claiming = leases.claim(
      held.map(({ name }) => name),
      idle.map(({ name, pace: wait }) => ({ name, pace: wait })),
      lease,
    );
    const own = new Set(await within(claimsPerTimeout * pace, claiming));
    for (const task of held) {
      if (own.has(task.name) && task.held) task.held.until = asked + lease;
      else task.held?.ending.abort();
    }
    // the new leases end by themselves
    if (isStopping) return;
    for (const task of idle) if (own.has(task.name)) begin(task, asked + lease);
  };
  const claims = every({ name: 'look_for_turns', pace, task: claim, failed });

  return {
    every: ({ exclusive: one, ...task }) => {
      if (!one) {
        const rounds = every(task);
        if (isStopping) void rounds.stop();
        all.push(rounds);
        return rounds;
      }
      const own: LeasedTask = { ...task, outcomes: watchOutcomes(task.failed), held: undefined };
      leased.set(task.name, own);
      return {
        now: async () => {
          await leases.makeDue(task.name).catch(own.outcomes.failed);
          await claims.now();
          await own.held?.work;
        },
        isWell: own.outcomes.isWell,
        stop: async () => {
          leased.delete(task.name);
          own.held?.ending.abort();
          await endsSoon(Promise.resolve(own.held?.work));
        },
      };
    },
    close: async () => {
      isStopping = true;
      await Promise.all([claims, ...all].map((rounds) => rounds.stop()));
      const held = [...leased.values()].flatMap((task) => task.held ?? []);
      for (const { ending } of held) ending.abort();
      await endsSoon(Promise.all(held.map(({ work }) => work)));
    },
  };
}
