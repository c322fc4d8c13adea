/** What was found of a visitor. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api, FoundVisitor } from '../../data/api.ts';
import type { Erased } from '../../data/erasing.ts';
import { downloadText } from '../../download.ts';
import { count, dateAndTime, escapeInvisible } from '../../format.ts';
import { DecisionName } from '../../parts/decision-name.tsx';
import { Choices } from './choices.tsx';
import { EraseDialog } from './erase-dialog.tsx';
import { mayBeRecord, OfRecord } from './of-record.tsx';
import { Timeline } from './timeline.tsx';

interface Props {
  api: Api;
  domainId: string;
  found: FoundVisitor;
  onErased(erased: Erased): void;
}

export function Found({ api, domainId, found, onErased }: Props) {
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
    return (
      <section class="card message">
        <h2>Nothing is stored about this visitor</h2>
        <p>
          No record of this domain has exactly the id <bdi>“{escapeInvisible(visitorId)}”</bdi>. It may belong to
          another domain, be mistyped, or have been erased.
        </p>
        {mayBeRecord(visitorId) && <OfRecord api={api} domainId={domainId} recordId={visitorId} />}
      </section>
    );
  return (
    <div class="stack" ref={frame}>
      <section class="card visitor-state" aria-labelledby="state-title">
        <header class="card-head">
          <h2 id="state-title">
            <bdi>{escapeInvisible(visitorId)}</bdi>
          </h2>
          <p class="muted">As of {dateAndTime(generatedAt)}</p>
        </header>
        {current && (
          <dl class="state">
            <div>
              <dt>Current decision</dt>
              <dd>
                <DecisionName decision={current.decision} />
              </dd>
            </div>
            <div>
              <dt>Since</dt>
              <dd>{dateAndTime(current.decidedAt)}</dd>
            </div>
            <div>
              <dt>Categories</dt>
              <dd>
                <Choices preferences={current.preferences} />
              </dd>
            </div>
            <div>
              <dt>Records</dt>
              <dd>{count(records.length)}</dd>
            </div>
          </dl>
        )}
        <div class="actions">
          <button
            type="button"
            class="button primary"
            onClick={() => downloadText(`visitor-${generatedAt.slice(0, 10)}.json`, 'application/json', text)}
          >
            Download
          </button>
          <button type="button" class="button" onClick={() => print()}>
            Print
          </button>
          <button type="button" class="button danger" onClick={() => setErasing(true)}>
            Erase…
          </button>
        </div>
      </section>
      <Timeline api={api} records={records} notices={notices} />
      {isErasing && (
        <EraseDialog
          api={api}
          visitor={{ domainId, visitorId, records }}
          onErased={onErased}
          onClose={() => setErasing(false)}
        />
      )}
    </div>
  );
}
