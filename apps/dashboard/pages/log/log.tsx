/** The log of one domain: proof of consent, page by page, under the two rules of the plan, which are told in words. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { FullRecord, Organization, RecordsPage } from '#libs/contract/responses';
import type { Api } from '../../data/api.ts';
import { type Looked, readLog, useArrivals } from '../../data/arrivals.ts';
import { hasFilters, type LogQuery, logQueryIn, toAddressQuery } from '../../data/log-query.ts';
import { useReading } from '../../data/reading.ts';
import { cameBack, domainAddress, go, logAddress } from '../../data/router.ts';
import { count, minute, visible } from '../../format.ts';
import { TroubleCard } from '../../parts/error-card.tsx';
import { LiveMark } from '../../parts/live-badge.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordDetails } from '../../parts/record-details.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { LogFilters } from './filters.tsx';
import { LogPages } from './pagination.tsx';
import { LogTable } from './table.tsx';

interface Props {
  api: Api;
  organization: Organization;
  domainId: string;
  query: URLSearchParams;
}

export function Log({ api, organization, domainId, query: given }: Props) {
  const query = logQueryIn(given);
  const addressOf = (wanted: LogQuery) => logAddress(domainId, toAddressQuery(wanted));
  const address = addressOf(query);
  const [open, setOpen] = useState<FullRecord | null>(null);
  const openRecord = useCallback((record: FullRecord) => setOpen(record), []);
  const reading = useReading<Looked>(address, (signal) => readLog(api, domainId, query, signal));
  const answer = reading.value?.page;
  const isShut = reading.trouble?.code === 'plan_feature_required';
  const { live, arrived } = useArrivals(api, domainId, query, reading.isLoading ? undefined : reading.value);
  const domainName = organization.domains.find((each) => each.domainId === domainId)?.name ?? domainId;
  // who asks for the same again wants to see what is new
  const isReversed = query.from !== undefined && query.to !== undefined && query.from > query.to;
  const show = (wanted: LogQuery) => (addressOf(wanted) === address ? reading.retry() : go(addressOf(wanted)));
  // another page has another beginning
  useEffect(() => setOpen(null), [address]);

  const frame = useRef<HTMLElement>(null);
  const shown = useRef(query);
  // one reads on from the first row; who chooses a size keeps the choice at hand
  useEffect(() => {
    const before = shown.current;
    shown.current = query;
    if (cameBack() || (before.page === query.page && before.limit === query.limit)) return;
    frame.current?.scrollIntoView();
    if (before.limit === query.limit) frame.current?.focus({ preventScroll: true });
  }, [address]);

  return (
    <>
      <PageHead
        title={domainName}
        note={
          isShut
            ? 'Consent records of this domain'
            : `${answer?.capped ? 'The newest consent records of this domain' : 'Every consent record of this domain, newest first'}. Times are UTC.`
        }
        domain={{ domainId, page: 'log' }}
      >
        {answer && live && <LiveMark state={live} />}
      </PageHead>
      {isShut && <WithoutLog organization={organization} domainId={domainId} />}
      {answer?.cap && <Capped cap={answer.cap} shown={answer.records.length} total={answer.total} />}
      {!isShut && !answer?.capped && <LogFilters query={query} show={show} />}
      {reading.trouble && !isShut && !isReversed && <TroubleCard trouble={reading.trouble} retry={reading.retry} />}
      {!answer && !reading.trouble && <Skeleton kind="table" isSlow={reading.isSlow} />}
      {answer && (
        <section
          class={reading.isLate ? 'card log-card fading' : 'card log-card'}
          aria-busy={reading.isLoading}
          aria-label="Records"
          ref={frame}
          tabIndex={-1}
        >
          {reading.isSlow && (
            <p class="notice" role="status">
              Still loading. These are the records of the page before.
            </p>
          )}
          {arrived > 0 && (
            <p class="arrivals" role="status">
              {count(arrived)} {arrived === 1 ? 'decision' : 'decisions'} since you looked.{' '}
              <button type="button" class="button quiet" onClick={reading.retry}>
                Show
              </button>
            </p>
          )}
          {answer.records.length > 0 && <LogTable records={answer.records} onOpen={openRecord} />}
          {answer.records.length === 0 && <NoRecords query={query} answer={answer} addressOf={addressOf} />}
          {!answer.capped && answer.total > 0 && (
            <LogPages answer={answer} query={query} addressOf={addressOf} go={go} />
          )}
        </section>
      )}
      {open && <RecordDetails record={open} domainName={domainName} onClose={() => setOpen(null)} />}
    </>
  );
}

function WithoutLog({ organization, domainId }: { organization: Organization; domainId: string }) {
  return (
    <section class="card rule">
      <h2>The consent log is not part of your plan</h2>
      <p>
        The plan “{organization.plan.name}” counts decisions but does not show single records. Every decision is still
        recorded and kept as proof: with a plan that has the log, all of them can be read here, earlier ones too.
      </p>
      <a class="button primary" href={domainAddress(domainId)}>
        To the statistics
      </a>
    </section>
  );
}

function Capped({ cap, shown, total }: { cap: NonNullable<RecordsPage['cap']>; shown: number; total: number }) {
  return (
    <section class="card rule">
      <h2>This month’s limit is reached: the log shows its newest {count(shown)} records</h2>
      <p>
        Your plan has {count(cap.limit)} records a month, and {count(cap.used)} were recorded. Until{' '}
        <strong>{minute(cap.resetsAt)} UTC</strong> the log of this domain shows {count(shown)} of {count(total)}{' '}
        records, without pages and filters. Recording goes on, and nothing is lost: all records can be read again after
        that, or with a larger plan.
      </p>
    </section>
  );
}

function NoRecords({
  query,
  answer,
  addressOf,
}: {
  query: LogQuery;
  answer: RecordsPage;
  addressOf(query: LogQuery): string;
}) {
  if (answer.total > 0)
    return (
      <div class="nothing">
        <h2>This page is past the end</h2>
        <p>
          The log has {count(answer.total)} such records.{' '}
          <a href={addressOf({ ...query, page: 1 })}>To the first page</a>
        </p>
      </div>
    );
  if (!hasFilters(query))
    return (
      <div class="nothing">
        <h2>No records yet</h2>
        <p>Nobody has decided on this domain so far. The overview shows the tag to put on the site.</p>
      </div>
    );
  return (
    <div class="nothing">
      <h2>No record matches</h2>
      <p>
        {query.visitorId ? (
          <>
            No record of the visitor <bdi>“{visible(query.visitorId)}”</bdi> with these filters. Ids are compared whole,
            letter by letter.
          </>
        ) : (
          'Try fewer filters, or another period.'
        )}
      </p>
    </div>
  );
}
