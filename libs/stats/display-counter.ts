/**
 * Displays on their way to Postgres: counted in this process and stored once a second. What could not be stored is tried
 * again under the same id while new ones gather, so that each counts once although an answer got lost.
 */
import { randomUUID } from 'node:crypto';
import { every } from '#libs/base/every';
import type { Log } from '#libs/base/ops/process-log';
import { within } from '#libs/base/within';
import type { DisplayBody } from './display-body.ts';
import { createDisplayTally, type DisplayedOn } from './display-tally.ts';
import type { Flush } from './displays.ts';
import type { StatsMetrics } from './metrics.ts';

/** milliseconds */
const storeEvery = 1_000;
const stopPatience = 2_500;

export interface DisplayCounter {
  /** `time`: when its request came, in Unix milliseconds. */
  count(of: DisplayedOn, time: number, body: DisplayBody): void;
  /** Stores what is left, within 2.5 s. */
  close(): Promise<void>;
}

export function createDisplayCounter({
  store,
  log,
  metrics,
}: {
  store: (flush: Flush) => Promise<void>;
  log: Pick<Log, 'warn'>;
  metrics: Pick<StatsMetrics, 'displays'>;
}): DisplayCounter {
  const tally = createDisplayTally();
  let flush: Flush = { id: randomUUID(), rows: [] };
  let storing = Promise.resolve();

  const storeOne = async () => {
    if (flush.rows.length === 0) flush = { id: randomUUID(), rows: tally.take() };
    if (flush.rows.length === 0) return;
    await store(flush);
    metrics.displays.inc({ outcome: 'stored' }, totalOf(flush));
    flush.rows = [];
  };
  const rounds = every({
    name: 'store_displays',
    pace: storeEvery,
    task: () => {
      storing = storeOne();
      return storing;
    },
    failed: (error, isNews) => {
      if (isNews) log.warn({ err: error }, 'could not store displays; they are counted and tried again');
    },
  });

  /** What is being tried, and then what gathered meanwhile. */
  const storeAll = async () => {
    await storing.catch(() => {});
    await storeOne();
    await storeOne();
  };

  return {
    count: (of, time, body) => {
      tally.add(of, time, body);
      metrics.displays.inc({ outcome: 'counted' });
    },
    close: async () => {
      void rounds.stop();
      try {
        await within(stopPatience, storeAll());
      } catch (error) {
        const displays = totalOf(flush) + totalOf({ rows: tally.take() });
        log.warn({ err: error, displays }, 'displays are lost, because Postgres did not take them in time');
      }
    },
  };
}

const totalOf = ({ rows }: Pick<Flush, 'rows'>): number => rows.reduce((sum, { displays }) => sum + displays, 0);
