/** The figures, chart, domains and latest records of an organization, or what it has to do first. */
import { useMemo, useState } from 'preact/hooks';
import type { OrgStats } from '#libs/contract/log';
import type { FullRecord } from '#libs/contract/record';
import type { Organization } from '#libs/contract/statistics';
import { ShareBar } from '../../charts/share-bar.tsx';
import type { Api } from '../../data/api.ts';
import { sumOf } from '../../data/decisions.ts';
import { mayReadVisitors } from '../../data/scopes.ts';
import { count, share } from '../../format.ts';
import { BreakdownCard } from '../../parts/breakdown-card.tsx';
import { Figure } from '../../parts/figure.tsx';
import { FirstRecord } from '../../parts/first-record.tsx';
import { OptInFigure } from '../../parts/opt-in-figure.tsx';
import { RecordDetails } from '../../parts/record-details.tsx';
import { UsageFigure } from '../../parts/usage-figure.tsx';
import { DailyChart } from './daily-chart.tsx';
import { DomainList } from './domain-list.tsx';
import { FirstDomain } from './first-domain.tsx';
import { LatestRecords } from './latest-records.tsx';
import { useOlderRecords } from './older-records.ts';
import type { OverviewState } from './overview-state.ts';
import { currentUsage } from './usage.ts';

const compareDays = 7;

export function Overview({
  state,
  organization,
  api,
  put,
}: {
  state: OverviewState;
  organization: Organization;
  api: Api;
  put(state: OverviewState): void;
}) {
  const { stats, stream } = state;
  const [open, setOpen] = useState<FullRecord | null>(null);
  const names = useMemo(
    () => new Map(organization.domains.map(({ domainId, name }) => [domainId, name])),
    [organization.domains],
  );
  const older = useOlderRecords(api, state, put);
  const first = organization.domains.find(({ archivedAt }) => archivedAt === undefined);
  if (organization.domains.length === 0 || (!first && stats.total === 0))
    return <FirstDomain organization={organization} />;
  const usage = <UsageFigure plan={organization.plan} usage={currentUsage(organization, stats)} />;
  if (first && stats.total === 0)
    return (
      <div class="columns">
        <FirstRecord organization={organization} domain={first} period="in the last 30 days" />
        <div class="stack">
          {usage}
          <DomainList api={api} domains={organization.domains} period={stats.period} />
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
        <OptInFigure breakdown={breakdown} compared={lastWeeks(stats)} />
        <Figure
          name="Withdrawals"
          value={count(breakdown.withdraw)}
          note={`${share(breakdown.withdraw / total)} of all decisions`}
        />
        {usage}
      </div>
      <div class="columns columns-chart">
        <DailyChart daily={stats.daily} />
        <BreakdownCard now={{ total, breakdown }} />
      </div>
      <div class="columns">
        {/* before the endless list, so that the keyboard reaches it first */}
        <DomainList api={api} domains={organization.domains} period={stats.period} />
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
          api={api}
          record={open}
          domainName={names.get(open.domainId) ?? open.domainId}
          hasVisitors={mayReadVisitors(organization)}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}

/** This week against the one before. Whole weeks, because decisions depend on the weekday. */
function lastWeeks({ daily }: OrgStats) {
  const now = sumOf(daily.slice(-compareDays));
  const before = sumOf(daily.slice(-2 * compareDays, -compareDays));
  return {
    now,
    before,
    description: `last ${compareDays} days against the ${compareDays} before`,
    without: `in the ${compareDays} days before`,
  };
}
