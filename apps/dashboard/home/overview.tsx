/** The figures, chart, domains and latest records of an organization, or what it has to do first. */

import { useMemo, useState } from 'preact/hooks';
import type { OrgStats } from '#libs/log/contract';
import type { FullRecord } from '#libs/record/contract';
import type { OrganizationStats } from '#libs/stats/contract';
import { ShareBar } from '../charts/share-bar.tsx';
import { StackedChart } from '../charts/stacked-chart.tsx';
import { rateOf } from '../data/group-rows.ts';
import { useOlder } from '../data/older.ts';
import { type Reading, useLive, useReading } from '../data/query.ts';
import { mayReadVisitors } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dayTick, dayWithWeekday, share } from '../format.ts';
import { BreakdownCard } from '../parts/breakdown-card.tsx';
import { Figure, OptInFigure } from '../parts/figure.tsx';
import { FirstRecord } from '../parts/first-record.tsx';
import { RecordDetails } from '../parts/record-details.tsx';
import { UsageFigure } from '../parts/usage-figure.tsx';
import { currentUsage } from './current-usage.ts';
import { DomainList } from './domain-list.tsx';
import { FirstDomain } from './first-domain.tsx';
import { LatestRecords } from './latest-records.tsx';
import type { OverviewState } from './overview-state.ts';
import { appendPage } from './stream.ts';

const compareDays = 7;
/** milliseconds: rates move once an epoch */
const ratesEvery = 10_000;
/** Older records that are read at once. */
const pageLength = 100;

export function Overview({ state, reading }: { state: OverviewState; reading: Reading<OverviewState> }) {
  const { api, organization } = useSignedIn();
  const { stats, stream } = state;
  const rates = useRates(stats.period);
  const [open, setOpen] = useState<FullRecord | null>(null);
  const names = useMemo(
    () => new Map(organization.domains.map(({ domainId, name }) => [domainId, name])),
    [organization.domains],
  );
  const older = useOlder(
    reading,
    (now) => now.stream.cursor,
    (cursor) => api.orgStats({ limit: pageLength, cursor }),
    (now, page) => ({ ...now, stream: appendPage(now.stream, page) }),
  );
  const first = organization.domains.find(({ archivedAt }) => archivedAt === undefined);
  if (organization.domains.length === 0 || (!first && stats.total === 0)) return <FirstDomain />;
  const usage = <UsageFigure plan={organization.plan} usage={currentUsage(organization.usage, stats)} />;
  if (first && stats.total === 0)
    return (
      <div class="columns">
        <FirstRecord domain={first} period="in the last 30 days" />
        <div class="stack">
          {usage}
          <DomainList domains={organization.domains} period={stats.period} />
        </div>
      </div>
    );
  const { breakdown, total } = stats;
  return (
    <>
      <div class="figures-row">
        <Figure name="Decisions" value={count(total)} note="last 30 days, including today">
          <ShareBar breakdown={breakdown} total={total} />
        </Figure>
        <OptInFigure choices={rates?.choices} optInRate={rates?.optInRate} compared={lastWeeks(rates)} />
        <Figure
          name="Withdrawals"
          value={count(breakdown.withdraw)}
          note={`${share(breakdown.withdraw / total)} of all decisions`}
        />
        {usage}
      </div>
      <div class="columns columns-chart">
        <DailyChart daily={stats.daily} rates={rates} />
        <BreakdownCard now={{ total, breakdown }} />
      </div>
      <div class="columns">
        {/* before the endless list, so that the keyboard reaches it first */}
        <DomainList domains={organization.domains} period={stats.period} />
        <LatestRecords
          stream={stream}
          names={names}
          total={stats.recordsTotal}
          older={older}
          hasLog={organization.plan.consentLog}
          onOpen={setOpen}
        />
      </div>
      {open && (
        <RecordDetails
          record={open}
          domainName={names.get(open.domainId) ?? open.domainId}
          hasVisitors={mayReadVisitors(organization)}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}

/** The opt-in rate of the whole and of each day; undefined until the first answer. */
function useRates({ from, to }: OrgStats['period']): OrganizationStats | undefined {
  const { api } = useSignedIn();
  const read = (signal: AbortSignal) => api.organizationStats({ from, to, interval: 'day' }, signal);
  const key = `rates ${from} ${to}`;
  const { value, isLoading, put } = useReading(key, read);
  useLive(value && !isLoading ? key : null, { ask: read, onAnswer: put, interval: ratesEvery });
  return value;
}

/** This week against the one before. Whole weeks, because decisions depend on the weekday. */
function lastWeeks({ series, optInRate }: Partial<OrganizationStats> = {}) {
  const days = optInRate === undefined ? undefined : series;
  return {
    now: days && rateOf(days.slice(-compareDays)),
    before: days && rateOf(days.slice(-2 * compareDays, -compareDays)),
    description: `last ${compareDays} days vs. the ${compareDays} before`,
    without: `in the ${compareDays} days before`,
  };
}

/** The organization's last 30 days. */
function DailyChart({ daily, rates }: { daily: OrgStats['daily']; rates: OrganizationStats | undefined }) {
  const buckets = useMemo(() => {
    const of = new Map(rates?.series?.map((each) => ['date' in each ? each.date : each.month, each.optInRate]));
    return daily.map((each) => ({
      ...each,
      optInRate: of.get(each.date),
      name: dayWithWeekday(each.date),
      tick: dayTick(each.date),
    }));
  }, [daily, rates]);
  return (
    <section class="card">
      <header class="card-head">
        <h2>Decisions by day</h2>
      </header>
      <StackedChart label="Decisions by day, last 30 days" buckets={buckets} unit="Day" />
    </section>
  );
}
