/** Gauges whose values are queried when they are scraped. */
import { Gauge, type Registry } from 'prom-client';
import type { Database, Sql } from '../db/database.ts';
import { within } from '../timers.ts';

export interface SampledGauge<Seen> {
  name: string;
  help: string;
  labelNames?: string[];
  /** one value, or one for each combination of labels */
  values(seen: Seen): number | [labels: Record<string, string | number>, value: number][];
}

/** A query of a room, and the gauges that show its result. */
export interface GaugeQuery<Seen> {
  ask(sql: Sql): Promise<Seen>;
  gauges: SampledGauge<Seen>[];
}

/** milliseconds */
const patience = 1_000;

/**
 * Rejects with TimedOut after a second. This does not use the deadline of `run`. When that passes, the pool counts as dead
 * and is replaced, so scraping a slow Postgres would abort every call in progress.
 */
export const askPostgres = <Seen>(db: Database, { ask }: Pick<GaugeQuery<Seen>, 'ask'>): Promise<Seen> =>
  within(patience, db.read(ask));

/** The values of a gauge with one label. */
export const by = (label: string, values: Record<string, number>): [labels: Record<string, string>, value: number][] =>
  Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);

/**
 * Gauges that are scraped together share one query. If it fails they have no values, since old values would look current.
 */
export function createAskedGauges<Seen>(
  register: Registry,
  gauges: SampledGauge<Seen>[],
  look: () => Promise<Seen>,
  onError: () => void,
): void {
  let looking: Promise<void> | undefined;
  const show = (seen: Seen) => {
    // removes labels that no longer exist
    hide();
    for (const { gauge, values } of made) {
      const found = values(seen);
      if (typeof found === 'number') gauge.set(found);
      else for (const [labels, value] of found) gauge.set(labels, value);
    }
  };
  const hide = () => {
    for (const { gauge, labelNames } of made) {
      if (labelNames) gauge.reset();
      else gauge.remove();
    }
  };
  const collect = () => {
    looking ??= look()
      .then(show, () => {
        hide();
        onError();
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  // several processes behind one port report the same
  const made = gauges.map(({ values, ...options }) => ({
    values,
    labelNames: options.labelNames,
    gauge: new Gauge({ ...options, registers: [register], aggregator: 'max', collect }),
  }));
}
