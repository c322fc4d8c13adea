/**
 * Healing: keeps the counters in Redis correct. It runs on timers, not on BullMQ's schedules, which a flushed Redis would
 * lose.
 */
import { withLease } from '#libs/counters/lease';
import { repeat } from '#libs/runtime/repeat';
import type { HealingParts } from './organizations.ts';
import { sweepOwedRaises } from './owed-raises.ts';
import { fillMissing, reconcile } from './reconcile.ts';

/** Milliseconds between two rounds, and from the start of one until another worker may begin one. */
const rounds = {
  owed: { every: 1_000, turn: 700 },
  fill: { every: 3_000, turn: 2_000 },
  reconcile: { every: 30_000, turn: 25_000 },
};

export function createHealing(parts: HealingParts): { close(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const inTurn = (name: keyof typeof rounds, heal: (signal: AbortSignal) => Promise<unknown>) => {
    const { every, turn } = rounds[name];
    const round = async () => {
      await withLease(parts.countersRedis, { name, turn }, async (lost) => {
        await heal(AbortSignal.any([signal, lost]));
      });
    };
    return repeat(every, round, (error) => parts.log.warn({ err: error }, 'counter repair failed'));
  };
  const stops = [
    inTurn('owed', () => sweepOwedRaises(parts)),
    inTurn('fill', (stop) => fillMissing(parts, stop)),
    inTurn('reconcile', (stop) => reconcile(parts, stop)),
  ];
  return {
    close: async () => {
      stopping.abort();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}
