/** The figures, chart, domains and latest records of an organization, or its first steps. */

import { useMemo, useState } from 'preact/hooks';
import type { FullRecord } from '#libs/record/contract';
import { ShareBar } from '../charts/share-bar.tsx';
import { useDomainFigures } from '../data/domain-figures.ts';
import { proportionOf } from '../data/group-rows.ts';
import { useNextPage } from '../data/next-page.ts';
import { defaultPeriod, type Period } from '../data/periods.ts';
import type { Reading } from '../data/query.ts';
import { homeAddress, withQuery } from '../data/router.ts';
import { mayReadVisitors } from '../data/scopes.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dayRange, share } from '../format.ts';
import { BreakdownCard } from '../parts/breakdown-card.tsx';
import { Figure, OptInFigure } from '../parts/figure.tsx';
import { FirstRecord } from '../parts/first-record.tsx';
import { lazy } from '../parts/lazy.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PeriodPicker } from '../parts/period-picker.tsx';
import { UsageFigure } from '../parts/usage-figure.tsx';
import { currentUsage } from './current-usage.ts';
import { DomainList } from './domain-list.tsx';
import { FirstDomain } from './first-domain.tsx';
import { LatestRecords } from './latest-records.tsx';
import { type Figures, useFigures } from './overview-figures.ts';
import type { OverviewState } from './overview-state.ts';
import { SilentDomains } from './silent-domains.tsx';
import { appendPage } from './stream.ts';

const OverviewChart = lazy(() => import('./overview-chart.tsx'))((part) => part.OverviewChart, 'table');
const RecordDetails = lazy(() => import('../parts/record-details.tsx'))((part) => part.RecordDetails, null);

const compareDays = 7;
/** older records per page */
const pageLength = 100;

interface Props {
  state: OverviewState;
  reading: Reading<OverviewState>;
  /** null: the last 30 days */
  chosen: Period | null;
}

export function Overview({ state, reading, chosen }: Props) {
  const { api, organization } = useSignedIn();
  const { stats, stream } = state;
  const { figures, reading: read } = useFigures(chosen, stats);
  const byDomain = useDomainFigures(chosen ?? stats.period);
  const [open, setOpen] = useState<FullRecord | null>(null);
  const names = useMemo(
    () => new Map(organization.domains.map(({ domainId, name }) => [domainId, name])),
    [organization.domains],
  );
  const older = useNextPage(
    reading,
    (now) => now.stream.cursor,
    (cursor) => api.orgStats({ limit: pageLength, cursor }),
    (now, page) => ({ ...now, stream: appendPage(now.stream, page) }),
  );
  const first = organization.domains.find(({ archivedAt }) => archivedAt === undefined);
  const isEmpty = chosen === null && stats.total === 0;
  if (organization.domains.length === 0 || (!first && isEmpty)) return <FirstDomain />;
  const usage = <UsageFigure plan={organization.plan} usage={currentUsage(organization.usage, stats)} />;
  const domains = <DomainList domains={organization.domains} figures={byDomain} chosen={chosen} />;
  if (first && isEmpty)
    return (
      <div class="columns">
        <FirstRecord domain={first} period="in the last 30 days" />
        <div class="stack">
          {usage}
          {domains}
        </div>
      </div>
    );
  return (
    <>
      {byDomain && <SilentDomains domains={organization.domains} figures={byDomain} />}
      <PeriodPicker period={chosen ?? stats.period} addressOf={addressOf} />
      {chosen && <LoadingOrError reading={read} kind="page" />}
      {figures && (
        <div class={chosen && read.isLate ? 'stack fading' : 'stack'}>
          <div class="figures-row">
            <Decisions figures={figures} isLast={chosen === null} />
            <OptInFigure
              choices={figures.choices}
              optInRate={figures.optInRate}
              isBehind={figures.pending !== undefined}
              compared={chosen ? notCompared : lastWeeks(figures)}
            />
            <Figure
              name="Withdrawals"
              value={count(figures.breakdown.withdraw)}
              note={
                figures.total > 0
                  ? `${share(figures.breakdown.withdraw / figures.total)} of all decisions`
                  : 'no decisions'
              }
            />
            {usage}
          </div>
          <div class="columns columns-chart">
            <OverviewChart figures={figures} isLast={chosen === null} />
            <BreakdownCard now={figures} />
          </div>
        </div>
      )}
      <div class="columns">
        {/* comes before the records, so that the keyboard reaches it first */}
        {domains}
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

/** The last 30 days are not in the address, so that a link to them stays current. */
function addressOf({ from, to }: Period): string {
  const last = defaultPeriod(now());
  return from === last.from && to === last.to ? homeAddress : withQuery(homeAddress, { from, to });
}

interface FiguresProps {
  figures: Figures;
  /** the last 30 days */
  isLast: boolean;
}

const Decisions = ({ figures: { from, to, total, breakdown }, isLast }: FiguresProps) => (
  <Figure name="Decisions" value={count(total)} note={isLast ? 'last 30 days, including today' : dayRange(from, to)}>
    <ShareBar breakdown={breakdown} total={total} />
  </Figure>
);

const notCompared = { now: undefined, before: undefined, description: '', without: '' };

/** Compares the last seven days with the seven before. Whole weeks, because decisions depend on the weekday. */
function lastWeeks({ series, optInRate }: Figures) {
  const days = optInRate === undefined ? undefined : series;
  return {
    now: days && proportionOf(days.slice(-compareDays)),
    before: days && proportionOf(days.slice(-2 * compareDays, -compareDays)),
    description: `last ${compareDays} days vs. the ${compareDays} before`,
    without: `too few choices to compare with the ${compareDays} days before`,
  };
}
