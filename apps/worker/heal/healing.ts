/**
 * Healing: keeps the counters in Redis correct. It runs on timers, not on BullMQ's schedules, which a flushed Redis would
 * lose.
 */
import { repeat } from '#libs/runtime/repeat';
import type { HealingParts } from './organizations.ts';
import { sweepOwedRaises } from './owed-raises.ts';
import { fillMissing, reconcile } from './reconcile.ts';

/** Milliseconds between two rounds, and how long one worker's round keeps the others from theirs. */
const sweepEvery = 1_000;
const fill = { every: 3_000, turn: 2_000 };
const compare = { every: 30_000, turn: 25_000 };

export function createHealing(parts: HealingParts): { close(): Promise<void> } {
  const onError = (error: unknown) => parts.log.warn({ err: error }, 'counter repair failed');
  const stops = [
    repeat(sweepEvery, async () => void (await sweepOwedRaises(parts)), onError),
    repeat(fill.every, () => fillMissing(parts, fill.turn), onError),
    repeat(compare.every, () => reconcile(parts, compare.turn), onError),
  ];
  return { close: async () => void (await Promise.all(stops.map((stop) => stop()))) };
}
