/**
 * Displays on their way to Postgres: counted in this process and stored once a second. A flush that fails is retried under
 * the same id, so each display counts once even if the response of Postgres got lost.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '#libs/base/ops/process-log';
import { dayOf } from '#libs/base/terms/calendar';
import { every, within } from '#libs/base/timers';
import type { Domain } from '#libs/tenants/tenants';
import type { DisplayBody } from './contract.ts';
import type { StatsMetrics } from './metrics.ts';
import type { DisplayBatch, Displays } from './stored-displays.ts';

/** milliseconds */
const storeEvery = 1_000;
const stopPatience = 2_500;

export interface DisplayBuffer {
  /** `time`: of the request, in Unix milliseconds */
  count(of: DisplayedOn, time: number, body: DisplayBody): void;
  /** Stores what is left, within 2.5 s. */
  close(): Promise<void>;
}

export function createDisplayCounter({
  store,
  log,
  metrics,
}: {
  store: (flush: DisplayBatch) => Promise<void>;
  log: Pick<Log, 'warn'>;
  metrics: Pick<StatsMetrics, 'displays'>;
}): DisplayBuffer {
  const tally = createDisplayTally();
  let flush: DisplayBatch = { id: randomUUID(), rows: [] };
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

  /** Waits for the flush under way, retries it if it failed, and stores the displays counted since. */
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

const totalOf = ({ rows }: Pick<DisplayBatch, 'rows'>): number => rows.reduce((sum, { displays }) => sum + displays, 0);

/**
 * The maximum number of value combinations that are counted separately between two flushes: per domain and day, per
 * organization (an eighth of the total), and in total.
 */
const bounds = { perDomain: 500, perOrganization: 2_500, inAll: 20_000 };

type DisplayedOn = Pick<Domain, 'domainId' | 'organizationId'>;

/**
 * Counts displays in memory, by domain, day and values. A page's key is public, so anybody can make up values: beyond a
 * limit, displays are counted without them.
 */
interface DisplayTally {
  /** `time`: Unix milliseconds */
  add(of: DisplayedOn, time: number, body: DisplayBody): void;
  /** The counts since the last call. */
  take(): Displays[];
}

/** No value has a NUL. */
const separator = '\0';
const withoutValues = separator.repeat(2);

export function createDisplayTally({ perDomain, perOrganization, inAll } = bounds): DisplayTally {
  let domains = new Map<string, Map<string, number>>();
  let sizes = new Map<string, number>();
  let size = 0;
  const today = createDays();

  return {
    add: ({ domainId, organizationId }, time, { bannerVersion = '', variant = '', language = '' }) => {
      const domain = domainId + separator + today(time);
      const counts = domains.get(domain) ?? new Map<string, number>();
      if (counts.size === 0) domains.set(domain, counts);
      const wanted = bannerVersion + separator + variant + separator + language;
      const ofOrganization = sizes.get(organizationId) ?? 0;
      const isFull = counts.size >= perDomain || ofOrganization >= perOrganization || size >= inAll;
      const key = isFull && !counts.has(wanted) ? withoutValues : wanted;
      const count = counts.get(key);
      if (count === undefined) {
        size += 1;
        sizes.set(organizationId, ofOrganization + 1);
      }
      counts.set(key, (count ?? 0) + 1);
    },
    take: () => {
      const taken = domains;
      domains = new Map();
      sizes = new Map();
      size = 0;
      return [...taken].flatMap(([domain, counts]) => {
        const [domainId = '', day = ''] = domain.split(separator);
        return Array.from(counts, ([values, displays]) => {
          const [bannerVersion = '', variant = '', language = ''] = values.split(separator);
          return { domainId, day, bannerVersion, variant, language, displays };
        });
      });
    },
  };
}

/** Calls `dayOf` once a second, because it takes longer than the rest of a count. */
function createDays(): (time: number) => string {
  let last = { second: Number.NaN, day: '' };
  return (time) => {
    const second = Math.floor(time / 1_000);
    if (second !== last.second) last = { second, day: dayOf(time) };
    return last.day;
  };
}
