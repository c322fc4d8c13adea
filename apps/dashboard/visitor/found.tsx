/** What was found of a visitor. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { base } from '../data/base.ts';
import type { FoundVisitor } from '../data/privacy-api.ts';
import { useReading } from '../data/query.ts';
import { activityAddress, visitorAddress } from '../data/router.ts';
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
  found: FoundVisitor;
  onErased(erased: Erased): void;
}

export function Found({ domainId, found, onErased }: Props) {
  const [isErasing, setErasing] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  // on paper nothing can be unfolded
  useEffect(() => {
    const unfold = () => {
      for (const part of frame.current?.querySelectorAll('details') ?? []) part.open = true;
    };
    addEventListener('beforeprint', unfold);
    return () => removeEventListener('beforeprint', unfold);
  }, []);

  const { visitor, text } = found;
  const { visitorId, records, notices, generatedAt } = visitor;
  const current = visitor.current[domainId];
  if (records.length === 0)
    return mayBeRecord(visitorId) ? (
      <OfRecord domainId={domainId} recordId={visitorId} />
    ) : (
      <Nobody visitorId={visitorId} />
    );
  return (
    <div class="stack" ref={frame}>
      <section class="card stack gap-16" aria-labelledby="state-title">
        <header class="card-head">
          <h2 id="state-title" class="anywhere">
            {isolated(visitorId)}
          </h2>
          <p class="muted">As of {dateAndTime(generatedAt)}</p>
        </header>
        {current && (
          <Facts class="state">
            <Fact name="Current decision">
              <DecisionName decision={current.decision} />
            </Fact>
            <Fact name="Since">{dateAndTime(current.decidedAt)}</Fact>
            <Fact name="Categories">
              <Choices preferences={current.preferences} />
            </Fact>
            <Fact name="Records">{count(records.length)}</Fact>
          </Facts>
        )}
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
      <Timeline records={records} notices={notices} />
      {isErasing && (
        <EraseDialog visitor={{ domainId, visitorId, records }} onErased={onErased} onClose={() => setErasing(false)} />
      )}
    </div>
  );
}

const Nobody = ({ visitorId }: { visitorId: string }) => (
  <section class="card message">
    <h2>Nothing is stored about this visitor</h2>
    <p>
      No record of this domain has exactly the id <bdi>“{escapeInvisible(visitorId)}”</bdi>. It may belong to another
      domain, be mistyped, or have been erased.
    </p>
  </section>
);

const uuidv7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Visitors know the id of their record, which the widget shows them: whoever types that is led to its visitor. */
const mayBeRecord = (typed: string): boolean => uuidv7Pattern.test(typed);

function OfRecord({ domainId, recordId }: { domainId: string; recordId: string }) {
  const { api } = useSignedIn();
  const { value: record } = useReading(`${domainId} ${recordId}`, (signal) => api.record(domainId, recordId, signal));
  // unknown, or the token or the plan does not allow to read it
  if (!record) return <Nobody visitorId={recordId} />;
  return (
    <section class="card message">
      <h2>This is the id of a record</h2>
      <p role="status">
        {record.visitorId === null ? (
          'It names no visitor.'
        ) : (
          <>
            Its visitor is <a href={visitorAddress(domainId, record.visitorId)}>{isolated(record.visitorId)}</a>.
          </>
        )}
      </p>
    </section>
  );
}
