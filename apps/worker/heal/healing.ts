/**
 * Healing: keeps the counters in Redis right without anybody asking. It runs on plain timers, because a scheduler that
 * Redis lost must not take the healer with it.
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
  const onError = (error: unknown) => parts.log.warn({ err: error }, 'a round of healing failed');
  const stops = [
    repeat(sweepEvery, async () => void (await sweepOwedRaises(parts)), onError),
    repeat(fill.every, () => fillMissing(parts, fill.turn), onError),
    repeat(compare.every, () => reconcile(parts, compare.turn), onError),
  ];
  return { close: async () => void (await Promise.all(stops.map((stop) => stop()))) };
}
