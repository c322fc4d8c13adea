/**
 * Healing: keeps the counters in Redis correct. It runs on timers, not on BullMQ's schedules, which a flushed Redis would
 * lose.
 */
import { withLease } from '#libs/counters/lease';
import { repeat } from '#libs/runtime/repeat';
import type { HealingParts } from './organizations.ts';
import { sweepOwedRaises } from './owed-raises.ts';
import { fillMissing, reconcile } from './reconcile.ts';

/** Seconds between two rounds, and from the start of one until another worker may begin one. */
const rounds = {
  owed: { every: 1, turn: 0.7 },
  fill: { every: 3, turn: 2 },
  reconcile: { every: 30, turn: 25 },
};

/** `pace`: milliseconds of such a second. */
export function createHealing({ pace, ...parts }: HealingParts & { pace: number }): { close(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const inTurn = (name: keyof typeof rounds, heal: (signal: AbortSignal) => Promise<unknown>) => {
    const { every, turn } = rounds[name];
    const round = async () => {
      await withLease(parts.countersRedis, { name, turn: turn * pace }, (lost) => untilEither(signal, lost, heal));
    };
    return repeat(every * pace, round, (error) => parts.log.warn({ err: error }, 'counter repair failed'));
  };
  const stops = [
    inTurn('owed', () => sweepOwedRaises(parts)),
    inTurn(
      'fill',
      inPieces((stop, after) => fillMissing(parts, stop, after)),
    ),
    inTurn(
      'reconcile',
      inPieces((stop, after) => reconcile(parts, stop, { after })),
    ),
  ];
  return {
    close: async () => {
      stopping.abort();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/** Each round begins after the organization that the one before it ended with. */
function inPieces(
  heal: (signal: AbortSignal, after: string) => Promise<string>,
): (signal: AbortSignal) => Promise<void> {
  let after = '';
  return async (signal) => {
    after = await heal(signal, after);
  };
}

/** With a signal that aborts when either does. That of AbortSignal.any would stay with `long` for good in Node 20. */
async function untilEither(
  long: AbortSignal,
  short: AbortSignal,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const either = new AbortController();
  const abort = () => either.abort();
  if (long.aborted || short.aborted) abort();
  long.addEventListener('abort', abort);
  short.addEventListener('abort', abort);
  try {
    await work(either.signal);
  } finally {
    long.removeEventListener('abort', abort);
  }
}
