/** Gauges whose values are asked for when they are scraped. */
import { Gauge, type Registry } from 'prom-client';
import type { Database, Sql } from '../db/database.ts';
import { within } from '../timers.ts';

export interface AskedGauge<Seen> {
  name: string;
  help: string;
  labelNames?: string[];
  /** one, or one for each combination of the labels */
  values(seen: Seen): number | [labels: Record<string, string | number>, value: number][];
}

/** What a room asks Postgres, and the gauges that show it. */
export interface Question<Seen> {
  ask(sql: Sql): Promise<Seen>;
  gauges: AskedGauge<Seen>[];
}

/** milliseconds */
const patience = 1_000;

/**
 * Rejects with TimedOut where no answer comes soon. The deadline is not one of `run`, which takes silence for connections
 * that are lost: who is scraped while Postgres is slow for a second would give up all that is under way.
 */
export const askPostgres = <Seen>(db: Database, { ask }: Pick<Question<Seen>, 'ask'>): Promise<Seen> =>
  within(patience, db.read(ask));

/** The values of a gauge with this one label. */
export const by = (label: string, values: Record<string, number>): [labels: Record<string, string>, value: number][] =>
  Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);

/**
 * Gauges that are scraped at once wait for one and the same `look`. Where it fails they have no values: old ones would say
 * that all is as it was.
 */
export function createAskedGauges<Seen>(
  register: Registry,
  gauges: AskedGauge<Seen>[],
  look: () => Promise<Seen>,
  onError: () => void,
): void {
  let looking: Promise<void> | undefined;
  const show = (seen: Seen) => {
    // what is gone is shown no more
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
  // of several processes behind one port each tells the same
  const made = gauges.map(({ values, ...options }) => ({
    values,
    labelNames: options.labelNames,
    gauge: new Gauge({ ...options, registers: [register], aggregator: 'max', collect }),
  }));
}
