/**
 * Schedules tasks: those that each process runs for itself, and those that one process at a time runs, whichever has the
 * turn. Whose turn it is is asked for all of these together, once in a while.
 */
import { endsSoon, every, type Rounds, type Task, watchOutcomes, within } from './timers.ts';

/** Looks after which the turn of a process that died is another's, and for which an answer is waited. */
const leaseLooks = 10;
const patienceLooks = 3;

interface ScheduledTask extends Task {
  /** Of all processes one at a time runs it. Twice at once, as after a lease that was lost, must do no harm. */
  one?: boolean;
}

/** Where processes agree whose turn it is. Times are milliseconds. */
export interface Turns {
  /** Keeps those that this process is at for `lease`, and takes those of `wanted` that are due. Returns whose it has. */
  look(held: string[], wanted: { name: string; pace: number }[], lease: number): Promise<string[]>;
  /** The next turn is due in `wait`, or at once where somebody told so meanwhile. */
  end(name: string, outcome: { succeeded: boolean; wait: number }): Promise<void>;
  /** Makes it due at once. */
  tell(name: string): Promise<void>;
}

export interface Scheduler {
  every(task: ScheduledTask): Rounds;
  /** Stops all rounds. */
  close(): Promise<void>;
}

interface Turn extends Task {
  outcomes: ReturnType<typeof watchOutcomes>;
  /** while this process is at it */
  held: { until: number; ending: AbortController; work: Promise<void> } | undefined;
}

/** `pace`: milliseconds between two looks whose turn it is. */
export function createScheduler({
  turns,
  pace,
  failed,
}: {
  turns: Turns;
  pace: number;
  /** of looks, for as long as Postgres is away */
  failed: Task['failed'];
}): Scheduler {
  const lease = leaseLooks * pace;
  const all: Rounds[] = [];
  const ones = new Map<string, Turn>();
  let isStopping = false;

  const run = async ({ name, pace: wait, task, outcomes }: Turn, signal: AbortSignal) => {
    let succeeded = false;
    try {
      await task(signal);
      succeeded = !signal.aborted;
      outcomes.succeeded();
    } catch (error) {
      // what was told to end may fail for that
      if (!signal.aborted) outcomes.failed(error);
    }
    // a look may come half a look too early; what was interrupted is due at once
    const outcome = { succeeded, wait: signal.aborted ? 0 : Math.max(0, wait - pace / 2) };
    // where this fails, the lease ends by itself
    await turns.end(name, outcome).catch(() => {});
  };
  const begin = (turn: Turn, until: number) => {
    const ending = new AbortController();
    const work = run(turn, ending.signal).finally(() => {
      turn.held = undefined;
    });
    turn.held = { until, ending, work };
  };
  const look = async () => {
    const asked = performance.now();
    const [held, idle] = [[...ones.values()].filter((one) => one.held), [...ones.values()].filter((one) => !one.held)];
    for (const one of held) if (one.held && one.held.until < asked) one.held.ending.abort();
    const answer = turns.look(
      held.map(({ name }) => name),
      idle.map(({ name, pace: wait }) => ({ name, pace: wait })),
      lease,
    );
    const own = new Set(await within(patienceLooks * pace, answer));
    for (const one of held) {
      if (own.has(one.name) && one.held) one.held.until = asked + lease;
      else one.held?.ending.abort();
    }
    // its lease ends by itself
    if (isStopping) return;
    for (const one of idle) if (own.has(one.name)) begin(one, asked + lease);
  };
  const looks = every({ name: 'look_for_turns', pace, task: look, failed });

  return {
    every: ({ one, ...task }) => {
      if (!one) {
        const rounds = every(task);
        if (isStopping) void rounds.stop();
        all.push(rounds);
        return rounds;
      }
      const turn: Turn = { ...task, outcomes: watchOutcomes(task.failed), held: undefined };
      ones.set(task.name, turn);
      return {
        now: async () => {
          await turns.tell(task.name).catch(turn.outcomes.failed);
          await looks.now();
          await turn.held?.work;
        },
        isWell: turn.outcomes.isWell,
        stop: async () => {
          ones.delete(task.name);
          turn.held?.ending.abort();
          await endsSoon(Promise.resolve(turn.held?.work));
        },
      };
    },
    close: async () => {
      isStopping = true;
      await Promise.all([looks, ...all].map((rounds) => rounds.stop()));
      const held = [...ones.values()].flatMap((one) => one.held ?? []);
      for (const { ending } of held) ending.abort();
      await endsSoon(Promise.all(held.map(({ work }) => work)));
    },
  };
}
