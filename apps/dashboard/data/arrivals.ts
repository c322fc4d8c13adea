/** How many decisions were recorded since the log was read. The rows stay as they are while somebody reads them. */
import { useState } from 'preact/hooks';
import { dayOf } from '#libs/contract/calendar';
import type { DomainStats } from '#libs/contract/statistics';
import type { Api } from './api.ts';
import { isDecision } from './decisions.ts';
import { type LiveState, useLive } from './live.ts';
import type { LogQuery } from './log-query.ts';
import type { LogSnapshot } from './log-snapshot.ts';
import { now } from './service-clock.ts';

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
