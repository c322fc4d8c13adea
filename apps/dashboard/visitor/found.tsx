/** The result of a search for a visitor. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { uuidv7Pattern } from '#libs/base/terms/calendar';
import { base } from '../data/base.ts';
import { domainIn } from '../data/domains.ts';
import { findRecord } from '../data/find-record.ts';
import type { FoundVisitor } from '../data/privacy-api.ts';
import { useReading } from '../data/query.ts';
import { activityAddress, logAddress, navigate, visitorAddress } from '../data/router.ts';
import { mayReadLogs } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { downloadText } from '../download.ts';
import { count, dateAndTime, escapeInvisible } from '../format.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { DecisionName } from '../parts/decision-name.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { isolated } from '../parts/isolated.tsx';
import { EraseDialog } from './erase-dialog.tsx';
import type { Erased } from './erasing.ts';
import { Choices, Timeline } from './timeline.tsx';

interface Props {
  domainId: string;
  isEverywhere: boolean;
  found: FoundVisitor;
  lookedFor: string | null;
  onErased(erased: Erased): void;
}

export function Found({ domainId, isEverywhere, found, lookedFor, onErased }: Props) {
  const { organization } = useSignedIn();
  const [isErasing, setErasing] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  // nothing can be unfolded on paper
  useEffect(() => {
    const unfold = () => {
      for (const part of frame.current?.querySelectorAll('details') ?? []) part.open = true;
    };
    addEventListener('beforeprint', unfold);
    return () => removeEventListener('beforeprint', unfold);
  }, []);

  const { visitor, text } = found;
  const { visitorId, records, notices, generatedAt } = visitor;
  if (records.length === 0) return <NotVisitor domainId={domainId} isEverywhere={isEverywhere} id={visitorId} />;
  const nameOf = (id: string) => domainIn(organization, id).name;
  return (
    <div class="stack" ref={frame}>
      <section class="card stack gap-16" aria-labelledby="state-title">
        <header class="card-head">
          <h2 id="state-title" class="anywhere">
            {isolated(visitorId)}
          </h2>
          <p class="muted">As of {dateAndTime(generatedAt)}</p>
        </header>
        {Object.entries(visitor.current).map(([id, current]) => (
          <Facts key={id} class="state">
            {isEverywhere && <Fact name="Domain">{isolated(nameOf(id))}</Fact>}
            <Fact name="Current decision">
              <DecisionName decision={current.decision} />
            </Fact>
            <Fact name="Since">{dateAndTime(current.decidedAt)}</Fact>
            <Fact name="Categories">
              <Choices preferences={current.preferences} />
            </Fact>
            <Fact name="Records">{count(records.filter((record) => record.domainId === id).length)}</Fact>
          </Facts>
        ))}
        <div class="actions">
          <Button
            text="Download"
            kind="primary"
            onClick={() => downloadText(`visitor-${generatedAt.slice(0, 10)}.json`, 'application/json', text)}
          />
          <Button text="Print" onClick={() => print()} />
          <ButtonLink text="Who looked" href={activityAddress({}, visitorId)} />
          <Button text="Erase…" kind="danger" onClick={() => setErasing(true)} />
          <p class="hint">
            A download can be checked at <a href={`${base}/verify`}>{`${location.host}${base}/verify`}</a>, with the
            log’s key.
          </p>
        </div>
      </section>
      <Timeline
        records={records}
        notices={notices}
        domainOf={isEverywhere ? (record) => nameOf(record.domainId) : undefined}
        lookedFor={lookedFor}
      />
      {isErasing && (
        <EraseDialog
          visitor={{ domainId: isEverywhere ? null : domainId, visitorId, records }}
          onErased={onErased}
          onClose={() => setErasing(false)}
        />
      )}
    </div>
  );
}

interface NotVisitorProps {
  domainId: string;
  isEverywhere: boolean;
  id: string;
}

/** The id may be a record's, which visitors know: then the page shows that record's visitor, or a record without one. */
function NotVisitor({ domainId, isEverywhere, id }: NotVisitorProps) {
  const { api, organization } = useSignedIn();
  const { value: record, error } = useReading(`${domainId} ${id}`, async (signal) =>
    mayReadLogs(organization) ? await findRecord(api, domainId, id, signal) : null,
  );
  useEffect(() => {
    if (!record) return;
    const { visitorId, id: recordId } = record;
    const address =
      visitorId === null
        ? logAddress(domainId, { record: recordId })
        : visitorAddress(domainId, visitorId, { in: isEverywhere ? 'all' : undefined, record: recordId });
    navigate(address, { replace: true });
  }, [record]);
  if (record !== null && !error) return null;
  const name = isolated(domainIn(organization, domainId).name);
  const hasOthers = organization.domains.length > 1;
  if (hasOthers && uuidv7Pattern.test(id))
    return (
      <section class="card message">
        <h2>Not found here</h2>
        <p>
          <bdi>“{escapeInvisible(id)}”</bdi> looks like the id of a record, and {name} has no such record. Records are
          found on the pages of their own domain: choose another one at the top, and search there. It is no visitor’s id{' '}
          {isEverywhere ? 'in your organization' : 'here'} either.
        </p>
      </section>
    );
  const mayBeElsewhere = !isEverywhere && hasOthers;
  return (
    <section class="card message">
      <h2>Nothing is stored about this visitor</h2>
      <p>
        {isEverywhere ? 'No record of your organization' : 'No record of this domain'} has exactly the visitor id{' '}
        <bdi>“{escapeInvisible(id)}”</bdi>. It may {mayBeElsewhere && 'belong to another domain, '}be mistyped, or have
        been erased. A record is found by its id on the pages of its own domain.
      </p>
      {mayBeElsewhere && <ButtonLink text="Search all domains" href={visitorAddress(domainId, id, { in: 'all' })} />}
    </section>
  );
}
