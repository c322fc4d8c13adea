/** The organization at a glance: 30 days over all domains, and the records as they come. */
import { useMemo, useState } from 'preact/hooks';
import type { FullRecord, Organization, OrgStats } from '#libs/contract/responses';
import { StackedChart } from '../../charts/stacked.tsx';
import type { Api } from '../../data/api.ts';
import { sumOf } from '../../data/decisions.ts';
import { useLive } from '../../data/live.ts';
import { useReading } from '../../data/reading.ts';
import { domainAddress } from '../../data/router.ts';
import { continueStream, enough, joinStream, type Stream, startStream, usual } from '../../data/stream.ts';
import { count, dayTick, range, share, visible, weekday } from '../../format.ts';
import { BreakdownCard, ShareBar } from '../../parts/breakdown.tsx';
import { TroubleCard } from '../../parts/error-card.tsx';
import { Figure } from '../../parts/figure.tsx';
import { FirstDomain, FirstRecord } from '../../parts/first-steps.tsx';
import { LiveMark } from '../../parts/live-badge.tsx';
import { OptIn } from '../../parts/opt-in.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordDetails } from '../../parts/record-details.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StreamList } from './latest-records.tsx';
import { Usage } from './usage.tsx';

interface Props {
  api: Api;
  organization: Organization;
  onOrganization(organization: Organization): void;
}

interface View {
  stats: OrgStats;
  stream: Stream;
}

/** Records in the first answer and in each one that continues it. */
const pageLength = 50;
/** Every so many live questions one asks what else may have changed: names, domains, the plan. */
const organizationEvery = 60;
/** How many days are compared with as many before; whole weeks, so that weekdays do not count. */
const compareDays = 7;
/** Domains that the page itself lists; the menu has all. */
const listed = 12;

export function Home({ api, organization, onOrganization }: Props) {
  const reading = useReading<View>('home', async (signal) => {
    const stats = await api.orgStats({ limit: pageLength }, signal);
    return { stats, stream: startStream(stats) };
  });
  const view = reading.value;
  const live = useLive<Organization | { stats: OrgStats; asked: number }>(view ? 'home' : null, {
    ask: useQuestions(api, view?.stream.hasGap ?? false, organization.domains.length === 0),
    onAnswer: (answer) => {
      if ('plan' in answer) return onOrganization(answer);
      if (!view) return;
      reading.put({ stats: answer.stats, stream: joinStream(view.stream, answer.stats, answer.asked) });
    },
  });
  return (
    <>
      <PageHead
        title="Overview"
        note={
          view
            ? `Last 30 days, ${range(view.stats.period.from, view.stats.period.to)} (UTC), all domains`
            : 'Last 30 days, all domains'
        }
      >
        {live && <LiveMark state={live} />}
      </PageHead>
      {reading.trouble && <TroubleCard trouble={reading.trouble} retry={reading.retry} />}
      {!view && !reading.trouble && <Skeleton kind="page" isSlow={reading.isSlow} />}
      {view && <Overview view={view} organization={organization} api={api} put={reading.put} />}
    </>
  );
}

/** What the next live question is: nearly always the counters and the newest few records. */
function useQuestions(api: Api, hasGap: boolean, isWithoutDomains: boolean) {
  const turns = useMemo(() => ({ count: 0 }), []);
  return async (signal: AbortSignal) => {
    turns.count += 1;
    if (turns.count % (isWithoutDomains ? 2 : organizationEvery) === 0) return api.organization(signal);
    const asked = hasGap ? enough : usual;
    return { stats: await api.orgStats({ limit: asked }, signal), asked };
  };
}

function Overview({
  view,
  organization,
  api,
  put,
}: {
  view: View;
  organization: Organization;
  api: Api;
  put(view: View): void;
}) {
  const { stats, stream } = view;
  const [open, setOpen] = useState<FullRecord | null>(null);
  const names = useMemo(
    () => new Map(organization.domains.map(({ domainId, name }) => [domainId, name])),
    [organization.domains],
  );
  const more = useMore(api, view, put);
  const first = organization.domains[0];
  if (!first) return <FirstDomain organizationId={organization.organizationId} />;
  const usage = <Usage plan={organization.plan} usage={usageOf(organization, stats)} />;
  if (stats.total === 0)
    return (
      <div class="columns">
        <FirstRecord domain={first} period="in the last 30 days" />
        <div class="stack">
          {usage}
          <Domains domains={organization.domains} />
        </div>
      </div>
    );
  const { breakdown, total } = stats;
  return (
    <>
      <div class="figures-row">
        <Figure name="Decisions" value={count(total)} note="in the last 30 days, today so far included">
          <ShareBar breakdown={breakdown} total={total} />
        </Figure>
        <OptIn breakdown={breakdown} compared={lastWeeks(stats)} />
        <Figure
          name="Withdrawals"
          value={count(breakdown.withdraw)}
          note={`${share(breakdown.withdraw / total)} of all decisions took consent back`}
        />
        {usage}
      </div>
      <div class="columns columns-chart">
        <DailyCard daily={stats.daily} />
        <BreakdownCard now={{ total, breakdown }} />
      </div>
      <div class="columns">
        {/* before the stream, which has no end: nobody should have to pass it */}
        <Domains domains={organization.domains} />
        <StreamList
          stream={stream}
          names={names}
          total={stats.recordsTotal}
          more={more}
          hasLog={organization.plan.consentLog}
          onOpen={setOpen}
        />
      </div>
      {open && (
        <RecordDetails
          record={open}
          domainName={names.get(open.domainId) ?? open.domainId}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}

function DailyCard({ daily }: { daily: OrgStats['daily'] }) {
  const buckets = useMemo(
    () => daily.map((each) => ({ ...each, name: weekday(each.date), tick: dayTick(each.date) })),
    [daily],
  );
  return (
    <section class="card">
      <header class="card-head">
        <h2>Decisions by day</h2>
      </header>
      <StackedChart label="Decisions by day, last 30 days" buckets={buckets} unit="Day" />
    </section>
  );
}

function Domains({ domains }: Pick<Organization, 'domains'>) {
  return (
    <nav class="card domains" aria-labelledby="domains-title">
      <header class="card-head">
        <h2 id="domains-title">Domains</h2>
        <p class="muted">{count(domains.length)}</p>
      </header>
      <ul>
        {domains.slice(0, listed).map(({ domainId, name }) => (
          <li key={domainId}>
            <a href={domainAddress(domainId)}>
              <bdi>{visible(name)}</bdi>
              <span aria-hidden="true">→</span>
            </a>
          </li>
        ))}
      </ul>
      {domains.length > listed && <p class="muted">and {count(domains.length - listed)} more in the menu at the top</p>}
    </nav>
  );
}

/** Continues the stream. What arrives live meanwhile stays: the page is put after whatever is there by then. */
function useMore(api: Api, view: View, put: (view: View) => void) {
  const [state, setState] = useState({ isLoading: false, hasFailed: false });
  const latest = useMemo(() => ({ view }), []);
  latest.view = view;
  const load = () => {
    const { cursor } = latest.view.stream;
    if (cursor === null || state.isLoading) return;
    setState({ isLoading: true, hasFailed: false });
    api.orgStats({ limit: pageLength * 2, cursor }).then(
      (page) => {
        const { stats, stream } = latest.view;
        // it began anew meanwhile
        if (stream.cursor === cursor) put({ stats, stream: continueStream(stream, page) });
        setState({ isLoading: false, hasFailed: false });
      },
      () => setState({ isLoading: false, hasFailed: true }),
    );
  };
  return { ...state, load };
}

function lastWeeks({ daily }: OrgStats) {
  const now = sumOf(daily.slice(-compareDays));
  const before = sumOf(daily.slice(-2 * compareDays, -compareDays));
  return {
    now,
    before,
    words: `last ${compareDays} days against the ${compareDays} before`,
    without: `in the ${compareDays} days before`,
  };
}

/**
 * The month's usage moves with the days, without a request of its own. Counters only grow, so of two figures for one
 * month the larger is the newer; on a 31st the 30 days lack the first one.
 */
function usageOf({ usage }: Organization, { daily, period }: OrgStats): Organization['usage'] {
  const month = period.to.slice(0, 7);
  const counted = daily.filter(({ date }) => date.startsWith(month)).reduce((sum, { total }) => sum + total, 0);
  return { ...usage, month, used: usage.month === month ? Math.max(usage.used, counted) : counted };
}
