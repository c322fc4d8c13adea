/** Waits for the first record, and then shows the newest. */
import { useRef } from 'preact/hooks';
import { addDays, dayOf } from '#libs/contract/calendar';
import type { FullRecord } from '#libs/contract/record';
import type { Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import { ApiError } from '../../data/api-error.ts';
import { useLive } from '../../data/live.ts';
import { useReading } from '../../data/reading.ts';
import { logAddress } from '../../data/router.ts';
import { now } from '../../data/service-clock.ts';
import { count, dateAndTime, escapeInvisible } from '../../format.ts';
import { DecisionName } from '../../parts/decision-name.tsx';
import { LiveBadge } from '../../parts/live-badge.tsx';
import { Waiting } from './waiting.tsx';

interface Props {
  api: Api;
  organization: Organization;
  domainId: string;
}

interface Seen {
  /** of the days in which decisions are still accepted */
  total: number;
  /** null where there is none, or the plan has no log */
  newest: FullRecord | null;
}

/** Records are accepted for up to 30 days after the decision; one more day covers midnight. */
const acceptedDays = 31;

export function NewestRecord({ api, organization, domainId }: Props) {
  const hasLog = organization.plan.consentLog;
  const countAll = async (signal: AbortSignal) => {
    const to = dayOf(now());
    try {
      return (await api.stats(domainId, { from: addDays(to, -acceptedDays), to }, signal)).total;
    } catch (error) {
      // one that was just made is known to all reads within a second
      if (error instanceof ApiError && error.code === 'domain_not_found') return 0;
      throw error;
    }
  };
  const see = async (total: number, signal: AbortSignal): Promise<Seen> => {
    if (total === 0 || !hasLog) return { total, newest: null };
    return { total, newest: (await api.records(domainId, { limit: 1 }, signal)).records[0] ?? null };
  };
  const reading = useReading<Seen>(domainId, async (signal) => see(await countAll(signal), signal));
  const seen = reading.value;
  const hasWaited = useRef(false);
  if (seen?.total === 0) hasWaited.current = true;
  const live = useLive<Seen | null>(seen ? domainId : null, {
    ask: async (signal) => {
      const total = await countAll(signal);
      return total === seen?.total ? null : see(total, signal);
    },
    onAnswer: (fresh) => {
      if (fresh) reading.put(fresh);
    },
  });
  const title = !seen
    ? 'Records of this site'
    : seen.total === 0
      ? 'Waiting for the first record …'
      : hasWaited.current
        ? 'The site records'
        : 'The newest record';
  return (
    <section class="card widget-record" aria-labelledby="record-title">
      <header class="card-head">
        <h2 id="record-title">{title}</h2>
        {live && <LiveBadge state={live} />}
      </header>
      <div role="status">
        {!seen && !reading.error && <p class="muted">Loading …</p>}
        {reading.error && <p class="field-note">What has been recorded could not be read.</p>}
        {seen?.total === 0 && (
          <p>
            Put the tag into a page of the site, open that page in a browser and decide. The record appears here within
            about a second.
          </p>
        )}
        {seen && seen.total > 0 && !seen.newest && <p>Decisions of the last 30 days: {count(seen.total)}.</p>}
        {seen?.newest && <Newest record={seen.newest} />}
      </div>
      {seen?.total === 0 && <Waiting api={api} organization={organization} domainId={domainId} />}
      {reading.error && (
        <button type="button" class="button" onClick={reading.retry}>
          Try again
        </button>
      )}
      {seen?.newest && <a href={logAddress(domainId)}>All records of this domain</a>}
    </section>
  );
}

const Newest = ({ record }: { record: FullRecord }) => (
  <dl class="widget-facts">
    <div>
      <dt>Decision</dt>
      <dd>
        <DecisionName decision={record.decision} />
      </dd>
    </div>
    <div>
      <dt>Decided</dt>
      <dd>{dateAndTime(record.decidedAt)} UTC</dd>
    </div>
    <div>
      <dt>Page</dt>
      <dd>{record.pageUrl === null ? 'not stored' : <bdi>{escapeInvisible(record.pageUrl)}</bdi>}</dd>
    </div>
    <div>
      <dt>Language</dt>
      <dd>{record.language === null ? 'not stored' : escapeInvisible(record.language)}</dd>
    </div>
  </dl>
);
