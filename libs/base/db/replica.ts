/**
 * Reads that may be a few seconds old. They go to a replica for as long as it is known to have what the primary had at
 * most `maxLag` ago, and to the primary otherwise. Whatever fails on the replica is asked of the primary, also what the
 * replica does not have yet.
 *
 * Once a second the primary is asked how far its WAL has come, and then the replica how far it has replayed it. It has all
 * that the primary had when it was asked last, and was no further than the replica is now. So an idle primary is no lag,
 * a replica that is cut off from it is, and no clocks are compared.
 *
 * A primary that does not answer that question in time may be overloaded, away, or still being connected to, and is no
 * better place for reads. So the replica stays in use, and time does not count until the primary is heard of again, be it
 * by what the replica receives from it.
 */

import type { Log } from '../ops/process-log.ts';
import { every, type Rounds, within } from '../timers.ts';
import type { Database, Reads } from './database.ts';
import { isAnswer, isDeadlock, isInTheWay, isUnavailable } from './errors.ts';
import { type Position, primaryPosition, type ReplicaPosition, replicaPosition } from './replica-position.ts';

/** milliseconds */
const pollEvery = 1_000;
const pollDeadline = 1_000;
/** Each look at the replica waits so long for a primary that does not answer. */
const primaryDeadline = 500;
/** how many answers of the primary are remembered: a lag beyond is reported as this many seconds */
const remembered = 600;

/** Of the primary, or of a replica that may lag. */
export interface LaggingReads extends Reads {
  /** For an answer made of several reads: once one of them went to the primary, all that follow do. */
  forOneAnswer(): Reads;
}

export const readsOf = (primary: Reads): LaggingReads => ({ read: primary.read, forOneAnswer: () => primary });

export interface Replica {
  reads: LaggingReads;
  /** As that of a database: reads of the replica that are under way. */
  running(): number;
  /** why it is not used; null: it is */
  reason(): string | null;
  /** since when that is so, in Unix milliseconds */
  since(): number;
  /** Starts watching it; call once, and `close` at the end. */
  follow(): Promise<void>;
  /** As that of a database, for its connections and those that watch it. */
  recover(error: unknown): boolean;
  close(): Promise<void>;
}

export interface ReplicaParts {
  primary: Database;
  /** The primary again, asked only how far it has come: reads that wait for a connection there do not hold that up. */
  position: Database;
  replica: Database;
  /** milliseconds */
  maxLag: number;
  log: Pick<Log, 'info' | 'warn'>;
  /** called after each look at it; `lag` in seconds */
  onLook: (seen: { isUsed: boolean; lag: number }) => void;
}

export function createReplica({ primary, position, replica, maxLag, log, onLook }: ReplicaParts): Replica {
  const watch = watchLag();
  let fault: string | null = null;
  let isSilent = false;
  let told: string | null = null;
  let since = Date.now();

  const lag = () => watch.lag(performance.now());
  const reason = () => {
    if (isSilent) return 'it does not answer';
    return fault ?? (watch.isKnown() && lag() <= maxLag ? null : 'it lags');
  };
  const tell = () => {
    const now = reason();
    onLook({ isUsed: now === null, lag: lag() / 1_000 });
    if (now === told) return;
    told = now;
    since = Date.now();
    if (now === null) log.info({ event: 'replica_used' }, 'reading from the replica');
    else
      log.warn({ event: 'replica_not_used', reason: now, lag: Math.round(lag() / 1_000) }, 'reading from the primary');
  };
  /**
   * Returns when the primary was asked or, where it was silent, when that was clear. The question itself may take longer:
   * the first one on a connection waits until that is made, and the next one need not.
   */
  const askPrimary = async () => {
    const asked = performance.now();
    try {
      watch.hear(asked, await within(primaryDeadline, position.read(primaryPosition)));
    } catch (error) {
      if (!isAnswer(error)) return performance.now();
      // it may have news: the replica counts as lagging more and more
      watch.hear(asked);
    }
    return asked;
  };
  const look = async () => {
    const at = await askPrimary();
    try {
      fault = watch.see(at, await replica.read(replicaPosition, { deadline: pollDeadline }));
      isSilent = false;
    } catch {
      isSilent = true;
    }
    tell();
  };
  let looks: Rounds | undefined;

  /** `onPrimary` is called before what goes there instead. */
  const readWith =
    (onPrimary: () => void): Reads['read'] =>
    async (work, how) => {
      if (reason() === null) {
        try {
          return await replica.read(work, { ...how, deadline: undefined });
        } catch (error) {
          // otherwise the statement alone was ended, for its own length or for what had to be replayed
          if (isUnavailable(error) && !isInTheWay(error) && !isDeadlock(error)) isSilent = true;
        }
      }
      onPrimary();
      return primary.read(work, how);
    };

  return {
    reads: {
      read: readWith(() => {}),
      forOneAnswer: () => {
        let isOnPrimary = false;
        const read = readWith(() => {
          isOnPrimary = true;
        });
        return { read: (work, how) => (isOnPrimary ? primary.read(work, how) : read(work, how)) };
      },
    },
    running: replica.running,
    reason,
    since: () => since,
    follow: () => {
      looks = every({ name: 'look_at_replica', pace: pollEvery, task: look, failed: () => {} });
      return looks.now();
    },
    // both, since the error does not say whose connection it was
    recover: (error) => [replica, position].map((each) => each.recover(error)).includes(true),
    close: async () => {
      void looks?.stop();
      await Promise.all([replica.close(), position.close()]);
    },
  };
}

type History = Pick<Position, 'systemIdentifier' | 'timeline'>;

/** How far the replica is behind, of what both servers said. Times are of this process's clock, in milliseconds. */
export function watchLag(start = performance.now()) {
  let history: History | undefined;
  /** of the primary, oldest first */
  let answers: { at: number; wal: number }[] = [];
  /** The replica has all that the primary had then; while that is not known, the oldest time at which it lacks something. */
  let since = start;
  let isKnown = false;
  /** when the primary was last known to work */
  let heard = start;

  const remember = (at: number, wal: number) => {
    answers = [...answers.slice(1 - remembered), { at, wal }];
  };
  /** Time in which nothing was heard of the primary does not count. */
  const skip = (time: number) => {
    for (const answer of answers) answer.at += time;
    since += time;
  };
  return {
    isKnown: () => isKnown,
    lag: (at: number): number => at - since,
    /** The primary answered what it was asked at `at`; without a position where it would not tell. */
    hear(at: number, primary?: Position): void {
      heard = at;
      if (!primary) return;
      if (history?.timeline !== primary.timeline || history.systemIdentifier !== primary.systemIdentifier) answers = [];
      history = primary;
      remember(at, primary.wal);
    },
    /** `at`: when the primary was asked, or later, where it was silent. Returns why the other one is not its replica. */
    see(at: number, { wal, received, ...replica }: ReplicaPosition): string | null {
      if (wal === null) return 'it is not a replica';
      if (history && history.systemIdentifier !== replica.systemIdentifier) return 'it is a replica of another server';
      if (history && history.timeline !== replica.timeline) return 'it has not followed the failover';
      const newest = answers.at(-1);
      if (newest && at > heard) {
        if (received > newest.wal) remember(at, received);
        else skip(at - heard);
        heard = at;
      }
      const known = answers.findLast((answer) => answer.wal <= wal);
      isKnown = known !== undefined;
      if (known) {
        since = known.at;
        answers = answers.slice(answers.indexOf(known));
      } else since = Math.min(since, answers[0]?.at ?? since);
      return null;
    },
  };
}
