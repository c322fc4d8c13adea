/**
 * How many decisions came since the log was read. The rows themselves stay: nobody wants them to move while reading them.
 */
import { useState } from 'preact/hooks';
import { addDays, dayOf } from '#libs/contract/calendar';
import type { DomainStats, RecordsPage } from '#libs/contract/responses';
import type { Api } from './api.ts';
import { isDecision } from './decisions.ts';
import { type LiveState, useLive } from './live.ts';
import type { LogQuery } from './log-query.ts';
import { now } from './service-clock.ts';

/** How many days after the decision its record is still taken. */
const latest = 31;

export interface Looked {
  page: RecordsPage;
  /** the counters of that moment; null where they could not be had */
  counted: Counted | null;
}

interface Counted {
  /** a first day that stays makes midnight change nothing */
  from: string;
  stats: DomainStats;
}

/** The counters are asked with the page: asked later, they would hold what the page has not. */
export async function readLog(api: Api, domainId: string, query: LogQuery, signal: AbortSignal): Promise<Looked> {
  const from = addDays(dayOf(now()), -latest);
  const counted = canFollow(query)
    ? api.stats(domainId, { from, to: dayOf(now()) }, signal).then(
        (stats) => ({ from, stats }),
        () => null,
      )
    : null;
  return { page: await api.records(domainId, { ...query }, signal), counted: await counted };
}

export function useArrivals(
  api: Api,
  domainId: string,
  query: LogQuery,
  looked: Looked | undefined,
): { live: LiveState | null; arrived: number } {
  const [heard, setHeard] = useState<{ looked: Looked; arrived: number } | null>(null);
  const counted = looked?.counted;
  const live = useLive<DomainStats>(counted ? JSON.stringify([domainId, query]) : null, {
    ask: (signal) =>
      api.stats(domainId, { from: counted?.from ?? addDays(dayOf(now()), -latest), to: dayOf(now()) }, signal),
    onAnswer: (stats) => {
      if (!looked || !counted) return;
      const arrived = Math.max(0, countOf(stats, query) - countOf(counted.stats, query));
      setHeard((before) => (before?.looked === looked && before.arrived === arrived ? before : { looked, arrived }));
    },
  });
  return { live, arrived: heard && heard.looked === looked ? heard.arrived : 0 };
}

/** Counters know days and decisions, but no visitor and no bot; and what is decided now is not in days that were chosen. */
const canFollow = ({ visitorId, bot, from, to }: LogQuery): boolean =>
  [visitorId, bot, from, to].every((each) => each === undefined);

const countOf = ({ total, breakdown }: DomainStats, { decision = null }: { decision?: string | null | undefined }) =>
  isDecision(decision) ? breakdown[decision] : total;
