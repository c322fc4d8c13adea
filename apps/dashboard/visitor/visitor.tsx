/**
 * One visitor of a domain or of all domains: decisions, notices and erasure. Every plan includes it; the token needs a
 * scope.
 */
import './visitor.css';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { FoundVisitor } from '../data/privacy-api.ts';
import { useReading } from '../data/query.ts';
import { erasureAddress, navigate, visitorAddress } from '../data/router.ts';
import { mayReadLogs } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateAndTime } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Select, VisitorField } from '../parts/field.tsx';
import { FocusedTitle } from '../parts/focus.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PageHead } from '../parts/page-head.tsx';
import type { Erased } from './erasing.ts';
import { Found } from './found.tsx';
import { Timeline } from './timeline.tsx';

interface Props {
  domainId: string;
  query: URLSearchParams;
  visitorId: string | null;
}

export function Visitor({ domainId, query, visitorId }: Props) {
  const isEverywhere = query.get('in') === 'all';
  const [erased, setErased] = useState<Erased | null>(null);
  useEffect(() => {
    if (visitorId !== null) setErased(null);
  }, [visitorId]);
  // the service has erased the id, so it is removed from the address and the field
  const onErased = (done: Erased) => {
    setErased(done);
    navigate(visitorAddress(domainId), { replace: true });
  };
  return (
    <div class="stack visitor">
      <PageHead
        note={`What is stored about one visitor ${isEverywhere ? 'in all domains' : 'of this domain'}. Times are UTC.`}
        domain={{ domainId, page: 'visitor' }}
      />
      <FindVisitor domainId={domainId} isEverywhere={isEverywhere} visitorId={visitorId} />
      {visitorId !== null && (
        <OneVisitor
          key={`${isEverywhere} ${visitorId}`}
          domainId={domainId}
          isEverywhere={isEverywhere}
          visitorId={visitorId}
          lookedFor={query.get('record')}
          onErased={onErased}
        />
      )}
      {visitorId === null && erased && <Left erased={erased} />}
    </div>
  );
}

interface OneVisitorProps {
  domainId: string;
  isEverywhere: boolean;
  visitorId: string;
  /** id of one of the visitor's records */
  lookedFor: string | null;
  onErased(erased: Erased): void;
}

function OneVisitor({ domainId, isEverywhere, visitorId, ...given }: OneVisitorProps) {
  const { api } = useSignedIn();
  const reading = useReading<FoundVisitor>(JSON.stringify([domainId, visitorId]), (signal) =>
    api.visitor(isEverywhere ? null : domainId, visitorId, signal),
  );
  if (!reading.value) return <LoadingOrError reading={reading} kind="table" />;
  return <Found domainId={domainId} isEverywhere={isEverywhere} found={reading.value} {...given} />;
}

interface FindProps {
  domainId: string;
  isEverywhere: boolean;
  visitorId: string | null;
}

/** Asks for a visitor's id. It goes into the fragment of the address, which is not sent to servers. */
function FindVisitor({ domainId, isEverywhere, visitorId }: FindProps) {
  const { organization } = useSignedIn();
  const [typed, setTyped] = useState(visitorId ?? '');
  // a layout effect, since a later one could overwrite typed text
  useLayoutEffect(() => setTyped(visitorId ?? ''), [visitorId]);
  const id = typed.trim();
  const find = (where: string) => navigate(visitorAddress(domainId, id || undefined, { in: where }));
  return (
    <form
      class="card cluster bottom full find-visitor"
      onSubmit={(event) => {
        event.preventDefault();
        if (id !== '') find(isEverywhere ? 'all' : '');
      }}
    >
      <VisitorField label="Visitor or record id" value={typed} onType={setTyped} />
      {organization.domains.length > 1 && (
        <Select
          label="In"
          class="find-in"
          options={[
            { value: '', name: 'This domain' },
            { value: 'all', name: 'All domains' },
          ]}
          chosen={isEverywhere ? 'all' : ''}
          onChoose={find}
        />
      )}
      <Button text="Find" type="submit" kind="primary" disabled={id === ''} />
      {visitorId === null && (
        <p class="hint">
          {mayReadLogs(organization)
            ? 'The visitor’s id, or that of one of their records, which the website’s privacy settings show to them.'
            : 'The visitor’s id, which their browser keeps with the choice.'}
        </p>
      )}
    </form>
  );
}

/** Decisions without a visitor, which remain after an erasure. */
function Left({ erased: { erasure, left } }: { erased: Erased }) {
  return (
    <div class="stack">
      <section class="card message">
        <FocusedTitle>The visitor is erased</FocusedTitle>
        <p>
          {count(erasure.records)} {erasure.records === 1 ? 'record has' : 'records have'} no visitor’s id, IP address,
          browser, page or metadata any more
          {erasure.erasedAt === null ? '' : `, since ${dateAndTime(erasure.erasedAt)} UTC`}. Decisions, figures and
          proofs are as they were.
        </p>
        <p class="muted">
          Erasure <code>{erasure.erasureId}</code>: it has <a href={erasureAddress(erasure.erasureId)}>a receipt</a>{' '}
          that stays.
        </p>
      </section>
      {left === null ? (
        <p class="notice">What is left is in the log, which your token or your plan does not include.</p>
      ) : (
        left.length > 0 && <Timeline records={left} notices={{}} title="What is left" />
      )}
    </div>
  );
}
