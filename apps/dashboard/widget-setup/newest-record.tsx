/** Waits for the first record, then shows the newest one. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { AssentError } from '#libs/client/assent-error';
import type { FullRecord } from '#libs/record/contract';
import type { ShownDomain } from '#libs/tenants/contract';
import { useAttempt } from '../data/attempt.ts';
import type { Called } from '../data/calls.ts';
import { useLive, useReading } from '../data/query.ts';
import { logAddress } from '../data/router.ts';
import { mayManage } from '../data/scopes.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateAndTime, escapeInvisible } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { DecisionName } from '../parts/decision-name.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { Failure } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LiveBadge } from '../parts/live-badge.tsx';
import { RefusedOrigins } from '../parts/refused-origins.tsx';

interface Props {
  domainId: string;
}

interface Seen {
  /** counters of the days in which decisions are accepted */
  total: number;
  /** null if there is none, or the plan does not include the log */
  newest: FullRecord | null;
}

/** Records are accepted for up to 30 days after the decision; one more day covers midnight. */
const acceptedDays = 31;

export function NewestRecord({ domainId }: Props) {
  const { api, organization } = useSignedIn();
  const hasLog = organization.plan.consentLog;
  const countAll = async (signal: AbortSignal) => {
    const to = dayOf(now());
    try {
      return (await api.stats(domainId, { from: addDays(to, -acceptedDays), to }, signal)).total;
    } catch (error) {
      // a new domain is visible to all reads within a second
      if (error instanceof AssentError && error.code === 'domain_not_found') return 0;
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
      {seen?.total === 0 && <Waiting domainId={domainId} />}
      {reading.error && <Button text="Try again" onClick={reading.retry} />}
      {seen?.newest && <a href={logAddress(domainId)}>All records of this domain</a>}
    </section>
  );
}

const Newest = ({ record }: { record: FullRecord }) => (
  <Facts class="widget-facts">
    <Fact name="Decision">
      <DecisionName decision={record.decision} />
    </Fact>
    <Fact name="Decided">{dateAndTime(record.decidedAt)} UTC</Fact>
    <Fact name="Page">{record.pageUrl === null ? 'not stored' : isolated(record.pageUrl)}</Fact>
    <Fact name="Language">{record.language === null ? 'not stored' : escapeInvisible(record.language)}</Fact>
  </Facts>
);

/** Advice while no record arrives. */
const Waiting = ({ domainId }: { domainId: string }) => (
  <>
    {mayManage(useSignedIn().organization) && <Refused domainId={domainId} />}
    <div class="muted">
      <p id="widget-causes">Nothing comes? The usual causes:</p>
      <ul class="points" aria-labelledby="widget-causes">
        <li>The tag is not in the page that you opened.</li>
        <li>The site’s origin is not on the domain’s list.</li>
        <li>Nothing is published yet.</li>
      </ul>
    </div>
  </>
);

/** milliseconds */
const askEvery = 2_000;

/** Shown while no record arrives: the origins that were refused, each with a button that allows it. */
function Refused({ domainId }: { domainId: string }) {
  const { api } = useSignedIn();
  const [shown, setShown] = useState<Called<ShownDomain> | null>(null);
  const [added, setAdded] = useState('');
  const { failure, attempt } = useAttempt();
  const message = useRef<HTMLParagraphElement>(null);
  // a response to a read from before a change would show the old list
  const changes = useRef(0);
  useLive(domainId, {
    interval: askEvery,
    ask: async (signal) => ({ asOf: changes.current, newest: await api.manage.domain(domainId, signal) }),
    onAnswer: ({ asOf, newest }) => {
      if (asOf === changes.current) setShown(newest);
    },
  });
  // the clicked button disappears with its origin
  useEffect(() => {
    if (added) message.current?.focus();
  }, [added]);
  if (!shown) return null;
  const { refusedOrigins, ignoredFields, origins } = shown.body;
  const add = async (origin: string) => {
    const { body, tag } = await api.manage.changeDomain(domainId, { origins: [...origins, origin] }, shown.tag);
    changes.current += 1;
    setShown({ body: { ...body, refusedOrigins, ignoredFields }, tag });
    setAdded(origin);
  };
  return (
    <>
      <RefusedOrigins refused={refusedOrigins} origins={origins} onAdd={(origin) => attempt(() => add(origin))} />
      <Failure>{failure}</Failure>
      {added && (
        <p ref={message} tabIndex={-1}>
          {isolated(added)} is on the list now. Reload its page and decide.
        </p>
      )}
    </>
  );
}
