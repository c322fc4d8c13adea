/** The log of one domain, page by page. A plan may exclude it, or limit it to the newest records. */
import type { FullRecord } from '#libs/record/contract';
import './log.css';
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { domainIn } from '../data/domains.ts';
import type { Sealed } from '../data/proof-api.ts';
import { useReading } from '../data/query.ts';
import { cameByHistory, logAddress, navigate, visitorAddress } from '../data/router.ts';
import { mayReadVisitors } from '../data/scopes.ts';
import { useSealed } from '../data/sealed.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, timeOfDay } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { ErrorCard } from '../parts/error-card.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Term } from '../parts/term.tsx';
import { ExportRecords } from './export-records.tsx';
import { Filters } from './filters.tsx';
import { type LogQuery, logQueryIn, toAddressQuery, unfiltered } from './log-query.ts';
import { type LogSnapshot, readLogSnapshot, useArrivals } from './log-snapshot.ts';
import { LimitReached, LogNotInPlan, NoRecords } from './no-records.tsx';
import { OpenRecord } from './open-record.tsx';
import { Pagination } from './pagination.tsx';
import { LogTable } from './table.tsx';

interface Props {
  domainId: string;
  query: URLSearchParams;
  visitorId: string | null;
}

export function Log({ domainId, query: given, visitorId }: Props) {
  const { api, organization } = useSignedIn();
  const query = logQueryIn(given, visitorId ?? undefined);
  const addressOf = (wanted: LogQuery, record?: string) =>
    logAddress(domainId, { ...toAddressQuery(wanted), record }, wanted.visitorId);
  const address = addressOf(query);
  const recordId = given.get('record');
  const isOpenedHere = useRef(false);
  const openRecord = useCallback(
    ({ id }: Pick<FullRecord, 'id'>) => {
      isOpenedHere.current = true;
      navigate(addressOf(query, id));
    },
    [address],
  );
  // the back button closes the record too; if a link opened it, there is no entry to go back to
  const closeRecord = () => (isOpenedHere.current ? history.back() : navigate(address, { replace: true }));
  const isInQuery = given.has('visitorId');
  useLayoutEffect(() => {
    if (isInQuery) navigate(address, { replace: true });
  }, [isInQuery]);
  const reading = useReading<LogSnapshot>(address, (signal) => readLogSnapshot(api, domainId, query, signal));
  const response = reading.value?.page;
  const isLogInPlan = reading.error?.code !== 'plan_feature_required';
  const { live, arrived } = useArrivals(api, domainId, query, reading.isLoading ? undefined : reading.value);
  const sealed = useSealed(api, domainId, response?.records ?? []);
  const { archivedAt } = domainIn(organization, domainId);
  const hasVisitors = mayReadVisitors(organization);
  const isReversed = query.from !== undefined && query.to !== undefined && query.from > query.to;
  // applying the same filters again reloads the page
  const show = (wanted: LogQuery) => (addressOf(wanted) === address ? reading.retry() : navigate(addressOf(wanted)));
  const showVisitor = (id: string) => navigate(visitorAddress(domainId, id));

  const frame = useRef<HTMLElement>(null);
  const shown = useRef(query);
  // a new page starts at its first row; after a change of size, the select stays in view
  useEffect(() => {
    const before = shown.current;
    shown.current = query;
    if (cameByHistory() || (before.page === query.page && before.limit === query.limit)) return;
    frame.current?.scrollIntoView();
    if (before.limit === query.limit) frame.current?.focus({ preventScroll: true });
  }, [address]);

  return (
    <>
      <PageHead
        note={
          !isLogInPlan ? (
            'Consent records of this domain'
          ) : (
            <>
              {response?.capped
                ? 'The newest consent records of this domain'
                : 'Every consent record of this domain, newest first'}
              . Times are UTC. {sealed && <SealedUpTo {...sealed} />}
            </>
          )
        }
        domain={{ domainId, page: 'log' }}
        live={response && (live ?? undefined)}
      />
      {!isLogInPlan && <LogNotInPlan domainId={domainId} />}
      {response?.cap && <LimitReached cap={response.cap} shown={response.records.length} total={response.total} />}
      {isLogInPlan && !response?.capped && (
        <Filters
          domainId={domainId}
          query={query}
          show={show}
          showRecord={openRecord}
          showVisitor={hasVisitors ? showVisitor : undefined}
        />
      )}
      {reading.error && isLogInPlan && !isReversed && <ErrorCard error={reading.error} retry={reading.retry} />}
      {!response && !reading.error && <Skeleton kind="table" isSlow={reading.isSlow} />}
      {response && (
        <section
          class={reading.isLate ? 'card log-card fading' : 'card log-card'}
          aria-busy={reading.isLoading}
          aria-label="Records"
          ref={frame}
          tabIndex={-1}
        >
          {reading.isSlow && (
            <p class="notice" role="status">
              Still loading. These are the previous records.
            </p>
          )}
          {arrived > 0 && (
            <p class="arrivals" role="status">
              {count(arrived)} new {arrived === 1 ? 'decision' : 'decisions'}.{' '}
              <Button text="Show" kind="quiet" onClick={reading.retry} />
            </p>
          )}
          {response.records.length > 0 && (
            <LogTable records={response.records} hasVisitors={hasVisitors} onOpen={openRecord} />
          )}
          {response.records.length === 0 && (
            <NoRecords query={query} answer={response} isArchived={archivedAt !== undefined} addressOf={addressOf} />
          )}
          {!response.capped && response.total > 0 && (
            <Pagination answer={response} query={query} addressOf={addressOf} />
          )}
          {response.total > 0 && (
            <ExportRecords
              key={address}
              domainId={domainId}
              query={response.capped ? unfiltered : query}
              total={response.total}
            />
          )}
        </section>
      )}
      {recordId !== null && isLogInPlan && (
        <OpenRecord
          key={recordId}
          domainId={domainId}
          recordId={recordId}
          listed={response?.records.find(({ id }) => id === recordId)}
          onClose={closeRecord}
        />
      )}
    </>
  );
}

const SealedUpTo = ({ size, at }: Sealed) => (
  <>
    <Term of="sealed" text="Sealed" /> up to <Term of="entry" /> {count(size - 1)}
    {at && `, ${timeOfDay(at)}`}.
  </>
);
