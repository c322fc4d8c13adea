/**
 * Reads that may be a few seconds old. They go to a replica while it is known to have what the primary had at most `maxLag`
 * ago, and to the primary otherwise. A read that fails on the replica is retried on the primary, also if the replica lacks
 * something.
 *
 * Once a second the primary is asked for its WAL position, and then the replica how far it has replayed. The replica has
 * everything up to the latest position of the primary that it has reached. So an idle primary is no lag, a replica that is
 * cut off is, and no clocks are compared.
 *
 * A primary that does not respond in time may be overloaded, away or still connecting, and is no better place for reads. So
 * the replica stays in use, and time does not count until the primary is heard of again, possibly through what the replica
 * receives from it.
 */

import type { Log } from '../ops/process-log.ts';
import { every, type Rounds, within } from '../timers.ts';
import type { Database, Reads } from './database.ts';
import { isAnswer, isBlocked, isDeadlock, isUnavailable } from './errors.ts';
import { type Position, primaryPosition, type ReplicaPosition, replicaPosition } from './replica-position.ts';

/** milliseconds */
const pollEvery = 1_000;
const pollDeadline = 1_000;
/** How long each poll waits for a primary that does not respond. */
const primaryDeadline = 500;
/** How many positions of the primary are kept: the longest lag that can be measured, in seconds. */
const keptPositions = 600;

/** Of the primary, or of a replica that may lag. */
export interface LaggingReads extends Reads {
  /** For a response made of several reads: once one went to the primary, all later ones do. */
  forOneAnswer(): Reads;
}

export const readsOf = (primary: Reads): LaggingReads => ({ read: primary.read, forOneAnswer: () => primary });

export interface Replica {
  reads: LaggingReads;
  /** Reads of the replica in progress, as in a database. */
  running(): number;
  /** why it is not used; null if it is */
  reason(): string | null;
  /** since when, in Unix milliseconds */
  since(): number;
  /** Starts polling. Call once, and `close` at the end. */
  follow(): Promise<void>;
  /** As of a database, for its connections and those that poll the primary. */
  recover(error: unknown): boolean;
  close(): Promise<void>;
}

export interface ReplicaParts {
  primary: Database;
  /** The primary through a connection of its own, so that reads waiting for a connection do not delay the poll. */
  position: Database;
  replica: Database;
  /** milliseconds */
  maxLag: number;
  log: Pick<Log, 'info' | 'warn'>;
  /** called after each poll; `lag` in seconds */
  onLook: (seen: { isUsed: boolean; lag: number }) => void;
}

export function createReplica({ primary, position, replica, maxLag, log, onLook }: ReplicaParts): Replica {
  const watch = watchLag();
  let fault: string | null = null;
  let isSilent = false;
  let reported: string | null = null;
  let since = Date.now();

  const lag = () => watch.lag(performance.now());
  const reason = () => {
    if (isSilent) return 'it does not respond';
    return fault ?? (watch.isKnown() && lag() <= maxLag ? null : 'it lags');
  };
  const report = () => {
    const now = reason();
    onLook({ isUsed: now === null, lag: lag() / 1_000 });
    if (now === reported) return;
    reported = now;
    since = Date.now();
    if (now === null) log.info({ event: 'replica_used' }, 'reading from the replica');
    else
      log.warn({ event: 'replica_not_used', reason: now, lag: Math.round(lag() / 1_000) }, 'reading from the primary');
  };
  /**
   * Returns the time at which the primary was asked or, if it did not respond, the time at which that was clear. The query
   * may take longer on a new connection, which has to be opened first.
   */
  const askPrimary = async () => {
    const asked = performance.now();
    try {
      watch.hear(asked, await within(primaryDeadline, position.read(primaryPosition)));
    } catch (error) {
      if (!isAnswer(error)) return performance.now();
      // it may have written more: the replica's lag grows
      watch.hear(asked);
    }
    return asked;
  };
  const poll = async () => {
    const at = await askPrimary();
    try {
      fault = watch.see(at, await replica.read(replicaPosition, { deadline: pollDeadline }));
      isSilent = false;
    } catch {
      isSilent = true;
    }
    report();
  };
  let polls: Rounds | undefined;

  /** `onPrimary` is called before a read goes to the primary. */
  const readWith =
    (onPrimary: () => void): Reads['read'] =>
    async (work, how) => {
      if (reason() === null) {
        try {
          return await replica.read(work, { ...how, deadline: undefined });
        } catch (error) {
          // a blocked or deadlocked statement was ended alone: it took too long, or conflicted with replay
          if (isUnavailable(error) && !isBlocked(error) && !isDeadlock(error)) isSilent = true;
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
      polls = every({ name: 'look_at_replica', pace: pollEvery, task: poll, failed: () => {} });
      return polls.now();
    },
    // both, because the error does not show whose connection it was
    recover: (error) => [replica, position].map((each) => each.recover(error)).includes(true),
    close: async () => {
      void polls?.stop();
      await Promise.all([replica.close(), position.close()]);
    },
  };
}

type History = Pick<Position, 'systemIdentifier' | 'timeline'>;

/** How far the replica lags behind the primary. Times are of this process's monotonic clock, in milliseconds. */
export function watchLag(start = performance.now()) {
  let history: History | undefined;
  /** Positions of the primary, oldest first. */
  let positions: { at: number; wal: number }[] = [];
  /**
   * The latest time up to which the replica is known to have everything. While none is known: the earliest time from which
   * it lacks something.
   */
  let since = start;
  let isKnown = false;
  /** when the primary was last known to work */
  let heard = start;

  const remember = (at: number, wal: number) => {
    positions = [...positions.slice(1 - keptPositions), { at, wal }];
  };
  /** Time without news of the primary does not count. */
  const skip = (time: number) => {
    for (const position of positions) position.at += time;
    since += time;
  };
  return {
    isKnown: () => isKnown,
    lag: (at: number): number => at - since,
    /** The primary responded to the poll sent at `at`; without a position if it reported an error. */
    hear(at: number, primary?: Position): void {
      heard = at;
      if (!primary) return;
      if (history?.timeline !== primary.timeline || history.systemIdentifier !== primary.systemIdentifier)
        positions = [];
      history = primary;
      remember(at, primary.wal);
    },
    /**
     * `at`: when the primary was asked or, if it did not respond, later. Returns why the other server is not its replica.
     */
    see(at: number, { wal, received, ...replica }: ReplicaPosition): string | null {
      if (wal === null) return 'it is not a replica';
      if (history && history.systemIdentifier !== replica.systemIdentifier) return 'it is a replica of another server';
      if (history && history.timeline !== replica.timeline) return 'it has not followed the failover';
      const newest = positions.at(-1);
      if (newest && at > heard) {
        if (received > newest.wal) remember(at, received);
        else skip(at - heard);
        heard = at;
      }
      const known = positions.findLast((position) => position.wal <= wal);
      isKnown = known !== undefined;
      if (known) {
        since = known.at;
        positions = positions.slice(positions.indexOf(known));
      } else since = Math.min(since, positions[0]?.at ?? since);
      return null;
    },
  };
}
