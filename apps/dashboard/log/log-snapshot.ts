/** A page of the log with the counters of the same moment, so that newer decisions can be counted. */

import { useState } from 'preact/hooks';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import type { RecordsPage } from '#libs/log/contract';
import type { DomainStats } from '#libs/stats/contract';
import type { Api } from '../data/api.ts';
import { isDecision } from '../data/decisions.ts';
import { type LiveState, useLive } from '../data/query.ts';
import { now } from '../data/service-clock.ts';
import type { LogQuery } from './log-query.ts';

/** Records are accepted for up to 30 days after the decision; one more day covers midnight. */
const acceptedDays = 31;

export interface LogSnapshot {
  page: RecordsPage;
  /** null if the counters are unavailable, or do not cover the filters */
  counted: Counted | null;
}

interface Counted {
  /** fixed, so that the period does not change at midnight */
  from: string;
  stats: DomainStats;
}

/** Reads counters and page at the same time: counters read later would include decisions that the page lacks. */
export async function readLogSnapshot(
  api: Api,
  domainId: string,
  query: LogQuery,
  signal: AbortSignal,
): Promise<LogSnapshot> {
  const from = addDays(dayOf(now()), -acceptedDays);
  const counted = hasCounters(query)
    ? api.stats(domainId, { from, to: dayOf(now()) }, signal).then(
        (stats) => ({ from, stats }),
        () => null,
      )
    : null;
  return { page: await api.records(domainId, { ...query }, signal), counted: await counted };
}

/** Counters exist by day and decision, not by visitor or bot, and new decisions never fall into a chosen period. */
const hasCounters = ({ visitorId, bot, from, to }: LogQuery): boolean =>
  [visitorId, bot, from, to].every((each) => each === undefined);

/** The number of decisions recorded since the log was read. The rows do not change while somebody reads them. */
export function useArrivals(
  api: Api,
  domainId: string,
  query: LogQuery,
  snapshot: LogSnapshot | undefined,
): { live: LiveState | null; arrived: number } {
  const [latest, setLatest] = useState<{ snapshot: LogSnapshot; arrived: number } | null>(null);
  const counted = snapshot?.counted;
  const today = dayOf(now());
  const live = useLive<DomainStats>(counted ? JSON.stringify([domainId, query]) : null, {
    ask: (signal) => api.stats(domainId, { from: counted?.from ?? today, to: dayOf(now()) }, signal),
    onAnswer: (stats) => {
      if (!snapshot || !counted) return;
      const arrived = Math.max(0, countOf(stats, query) - countOf(counted.stats, query));
      setLatest((before) =>
        before?.snapshot === snapshot && before.arrived === arrived ? before : { snapshot, arrived },
      );
    },
  });
  return { live, arrived: latest && latest.snapshot === snapshot ? latest.arrived : 0 };
}

const countOf = ({ total, breakdown }: DomainStats, { decision = null }: { decision?: string | null | undefined }) =>
  isDecision(decision) ? breakdown[decision] : total;
