/** The opt-in rate over a period, compared with the previous period, and the changes that may explain it. */
import { useMemo } from 'preact/hooks';
import { countDays } from '#libs/base/terms/calendar';
import { AssentError } from '#libs/client/assent-error';
import type { DomainStats } from '#libs/stats/contract';
import { RateChart, type RateSpan } from '../../charts/rate-chart.tsx';
import type { Unit } from '../../charts/scale.ts';
import type { Api } from '../../data/api.ts';
import { readVersions } from '../../data/banner-versions.ts';
import { proportionOf } from '../../data/group-rows.ts';
import { useLiveValue } from '../../data/live-value.ts';
import { canBeGrouped, type Interval, includesToday, type Period, periodBefore } from '../../data/periods.ts';
import { domainAddress } from '../../data/router.ts';
import { now } from '../../data/service-clock.ts';
import { useSignedIn } from '../../data/signed-in.ts';
import { dayRange } from '../../format.ts';
import { type DatedBucket, ratesBefore } from './buckets.ts';
import { ChangeTable } from './change-table.tsx';
import { type ComparedChange, changesIn, compare } from './changes.ts';

/** milliseconds; versions are published rarely */
const every = 60_000;

interface Props {
  label: string;
  unit: Unit;
  buckets: DatedBucket[];
  stats: DomainStats;
  period: Period;
  interval: Interval;
  domainId: string;
}

interface Beside {
  before: DomainStats | null;
  changes: ComparedChange[];
}

export function Rates({ label, unit, buckets, stats, period, interval, domainId }: Props) {
  const { api } = useSignedIn();
  const { value } = useLiveValue(`rates ${domainAddress(domainId, { ...period, interval })}`, {
    read: (signal) => readBeside(api, { domainId, period, interval }, signal),
    interval: every,
    isQuiet: !includesToday(period, now()),
  });
  const spans = useMemo(() => spansOf(buckets, value), [buckets, value]);
  if (stats.optInRate === undefined) return <p class="muted">The service does not have it at the moment.</p>;
  if (!stats.choices) return <p class="muted">{stats.pending ? 'updating…' : 'No choices in these days.'}</p>;
  const { before, changes = [] } = value ?? {};
  return (
    <>
      <RateChart
        {...{ label, unit, spans }}
        before={before?.choices ? dayRange(before.from, before.to) : undefined}
        marks={changes.map(({ day }) => placeOf(day, buckets))}
      />
      {changes.length > 0 && <ChangeTable changes={changes} />}
    </>
  );
}

interface Asked {
  domainId: string;
  period: Period;
  interval: Interval;
}

async function readBeside(api: Api, { domainId, period, interval }: Asked, signal: AbortSignal): Promise<Beside> {
  const earlier = periodBefore(period, now());
  const read = (query: Parameters<Api['stats']>[1]) => api.stats(domainId, query, signal);
  // the comparison with the previous period includes that period's changes
  const both = { from: earlier?.from ?? period.from, to: period.to };
  const known = canBeGrouped(both) ? both : period;
  const [before, days, ...found] = await Promise.all([
    earlier && read({ ...earlier, interval: interval === 'month' ? 'month' : 'day' }),
    ...(canBeGrouped(period)
      ? ([
          read({ ...period, interval: 'day' }),
          read({ ...known, by: 'bannerVersion' }),
          read({ ...known, by: 'policyVersion' }),
        ] as const)
      : []),
  ]);
  // this error is retried
  if ([before, days].some((each) => each && each.optInRate === undefined))
    throw new AssentError('unreachable', 'The service does not have it at the moment.');
  if (!days) return { before, changes: [] };
  // tokens that may not read versions see the other changes
  const versions = await readVersions(api, domainId, signal).catch(() => []);
  const changes = compare(changesIn(versions, found), [...(before?.series ?? []), ...(days.series ?? [])]);
  return { before, changes: changes.filter(({ day }) => day >= period.from && day <= period.to) };
}

function spansOf(buckets: DatedBucket[], { before = null, changes = [] }: Partial<Beside> = {}): RateSpan[] {
  const earlier = before && ratesBefore(buckets, before);
  return buckets.map((bucket, index) => ({
    ...bucket,
    now: proportionOf([bucket]),
    before: earlier?.[index] ?? null,
    changed: changes.flatMap((each) => (includes(bucket, each.day) ? each.names : [])).join(', '),
  }));
}

const includes = ({ from, to }: Period, day: string): boolean => from <= day && day <= to;

/** The middle of a day, as a position in buckets. */
function placeOf(day: string, buckets: DatedBucket[]): number {
  const index = buckets.findIndex((bucket) => includes(bucket, day));
  const { from = day, to = day } = buckets[index] ?? {};
  return index + (countDays(from, day) - 0.5) / countDays(from, to);
}
