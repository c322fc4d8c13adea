/** The organization's domains with their decisions in a period, and those that have fallen silent. */
import { useMemo } from 'preact/hooks';
import type { StatsGroup } from '#libs/stats/contract';
import { canBeGrouped, type Period } from './periods.ts';
import { useLive, useReading } from './query.ts';
import { now } from './service-clock.ts';
import { useSignedIn } from './signed-in.ts';

/** milliseconds; groups change about once a minute */
const readAgainAfter = 60_000;
const day = 86_400_000;
/** whole days without a decision after which a domain is silent */
const silentAfter = 3;

/** By the domain's id. */
export type DomainFigures = ReadonlyMap<string | null, StatsGroup>;

/** Undefined while loading; null without a period, or if it is too long for groups. */
export function useDomainFigures(period: Period | null): DomainFigures | null | undefined {
  const { api } = useSignedIn();
  const key = period && canBeGrouped(period) ? `domains ${period.from} ${period.to}` : null;
  const read = async (signal: AbortSignal) => ({
    key,
    groups: key && period ? (await api.organizationStats({ ...period, by: 'domain' }, signal)).groups : [],
  });
  const { value, isLoading, put } = useReading(key ?? '', read);
  useLive(value && !isLoading ? key : null, { ask: read, onAnswer: put, interval: readAgainAfter });
  const figures = useMemo(
    () =>
      new Map(
        value?.groups?.flatMap((group): [string | null, StatsGroup][] =>
          'total' in group ? [[group.value, group]] : [],
        ),
      ),
    [value],
  );
  if (key === null) return null;
  return value?.key === key ? figures : undefined;
}

/** Whole days since the last decision if the domain counts as silent, else 0. */
export function silentDays(lastDecisionAt: string | null | undefined): number {
  const days = lastDecisionAt ? Math.floor((now() - Date.parse(lastDecisionAt)) / day) : 0;
  return days < silentAfter ? 0 : days;
}
