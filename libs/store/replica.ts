/**
 * Reads that may be a few seconds old. They go to a replica for as long as it is known to have what the primary had at
 * most `maxLag` ago, and to the primary otherwise. Whatever fails on the replica is asked of the primary, also what the
 * replica does not have yet.
 *
 * Once a second the primary is asked how far its WAL has come, and then the replica how far it has replayed it. It has all
 * that the primary had when it was asked last, and was no further than the replica is now. So an idle primary is no lag,
 * a replica that is cut off from it is, and no clocks are compared.
 */
import type { Log } from '#libs/runtime/log';
import { createPoll } from '#libs/runtime/poll';
import { TimedOut } from '#libs/runtime/within';
import { isDeadlock, isInTheWay, isUnavailable } from './errors.ts';
import { type Position, primaryPosition, replicaPosition } from './replica-position.ts';
import type { Database, Sql } from './sql.ts';

/** milliseconds */
const pollEvery = 1_000;
const pollDeadline = 1_000;
/** how many answers of the primary are remembered: a lag beyond is reported as this many seconds */
const remembered = 600;

/** For reads: of the primary, or of a replica that may lag. */
export interface ReadDatabase extends Database {
  /** For an answer made of several reads: once one of them went to the primary, all that follow do. */
  forOneAnswer(): Database;
}

export const readsOf = (primary: Database): ReadDatabase => ({ ...primary, forOneAnswer: () => primary });

export interface Replica {
  reads: ReadDatabase;
  /** why it is not used; null: it is */
  reason(): string | null;
  /** since when that is so, in Unix milliseconds */
  since(): number;
  /** Starts watching it; call once, and `close` at the end. */
  follow(): Promise<void>;
  close(): Promise<void>;
}

interface ReplicaParts {
  primary: Database;
  replica: Database;
  /** milliseconds */
  maxLag: number;
  log: Pick<Log, 'info' | 'warn'>;
  /** called after each look at it; `lag` in seconds */
  onLook: (seen: { isUsed: boolean; lag: number }) => void;
}

export function createReplica({ primary, replica, maxLag, log, onLook }: ReplicaParts): Replica {
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
  const look = async () => {
    const asked = performance.now();
    const ofPrimary = await primary.run(primaryPosition, pollDeadline).catch(awayOrSlow);
    try {
      const ofReplica = await replica.run(replicaPosition, pollDeadline);
      if (ofPrimary !== 'slow') fault = watch.see(asked, ofPrimary === 'away' ? undefined : ofPrimary, ofReplica);
      isSilent = false;
    } catch {
      isSilent = true;
    }
    tell();
  };
  const poll = createPoll({ every: pollEvery, ask: look, failed: () => {} });

  /** `onPrimary` is called for what goes there instead. */
  const read = async <T>(work: (sql: Sql) => Promise<T>, onPrimary: () => Promise<T>): Promise<T> => {
    if (reason() !== null) return onPrimary();
    try {
      return await replica.run(work);
    } catch (error) {
      // otherwise the statement alone was ended, for its own length or for what had to be replayed
      if (isUnavailable(error) && !isInTheWay(error) && !isDeadlock(error)) isSilent = true;
      return onPrimary();
    }
  };
  const reads: ReadDatabase = {
    ...replica,
    run: (work, deadline) => read(work, () => primary.run(work, deadline)),
    forOneAnswer: () => {
      let isOnPrimary = false;
      return {
        ...replica,
        run: (work, deadline) => {
          const onPrimary = () => {
            isOnPrimary = true;
            return primary.run(work, deadline);
          };
          return isOnPrimary ? onPrimary() : read(work, onPrimary);
        },
      };
    },
  };

  return {
    reads,
    reason,
    since: () => since,
    follow: poll.start,
    close: () => {
      poll.stop();
      return replica.close();
    },
  };
}

/** Whoever takes too long may have news meanwhile: then the replica counts as lagging more and more. */
const awayOrSlow = (error: unknown) => (error instanceof TimedOut || isInTheWay(error) ? 'slow' : 'away');

type History = Pick<Position, 'systemIdentifier' | 'timeline'>;

/** How far the replica is behind, of what both servers said. Times are of this process's clock, in milliseconds. */
export function watchLag(start = performance.now()) {
  let history: History | undefined;
  /** of the primary, oldest first */
  let answers: { at: number; wal: number }[] = [];
  /** The replica has all that the primary had then; while that is not known, the oldest time at which it lacks something. */
  let since = start;
  let isKnown = false;

  const note = (at: number, primary: Position) => {
    if (history?.timeline !== primary.timeline || history.systemIdentifier !== primary.systemIdentifier) answers = [];
    history = primary;
    answers = [...answers.slice(1 - remembered), { at, wal: primary.wal }];
  };
  return {
    isKnown: () => isKnown,
    lag: (at: number): number => at - since,
    /** `primary` was asked at `at`; undefined where it is away. Returns why the other one is not its replica. */
    see(at: number, primary: Position | undefined, replica: History & { wal: number | null }): string | null {
      const { wal } = replica;
      if (primary) note(at, primary);
      if (wal === null) return 'it is not a replica';
      if (history && history.systemIdentifier !== replica.systemIdentifier) return 'it is a replica of another server';
      if (history && history.timeline !== replica.timeline) return 'it has not followed the failover';
      const known = answers.findLast((answer) => answer.wal <= wal);
      isKnown = known !== undefined;
      if (known) {
        // a primary that is away has nothing new
        if (!primary && known === answers.at(-1)) known.at = at;
        since = known.at;
        answers = answers.slice(answers.indexOf(known));
      } else since = Math.min(since, answers[0]?.at ?? since);
      return null;
    },
  };
}
