/** A visitor's decisions with their notices, newest first. */

import { useState } from 'preact/hooks';
import type { FullRecord } from '#libs/record/contract';
import { count, dateAndTime } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { CategoryName } from '../parts/category-name.tsx';
import { DecisionName } from '../parts/decision-name.tsx';
import { isolated } from '../parts/isolated.tsx';
import { useOnPaper } from '../parts/on-paper.ts';
import { fieldsOf } from '../parts/record-fields.ts';
import { RecordNotice } from '../parts/record-notice.tsx';

/** records shown at a time */
const step = 50;

interface Props {
  records: FullRecord[];
  /** documents by hash */
  notices: Record<string, string>;
  title?: string;
  /** domain names, if the records belong to several */
  domainOf?: ((record: FullRecord) => string) | undefined;
  /** id of the highlighted record */
  lookedFor?: string | null;
}

const show = (item: HTMLElement | null) => item?.scrollIntoView();

export function Timeline({ records, notices, title = 'Decisions', domainOf, lookedFor = null }: Props) {
  const isLookedFor = ({ id }: FullRecord) => id === lookedFor;
  const [most, setMost] = useState(() => Math.max(step, records.findIndex(isLookedFor) + 1));
  useOnPaper(() => setMost(Number.POSITIVE_INFINITY));
  return (
    <section class="card" aria-labelledby="timeline-title">
      <header class="card-head">
        <h2 id="timeline-title">{title}</h2>
        <p class="muted">Newest first</p>
      </header>
      <ol class="rows timeline">
        {records.slice(0, most).map((record) => (
          <li
            key={`${record.domainId} ${record.id}`}
            class={isLookedFor(record) ? 'stack gap-4 looked-for' : 'stack gap-4'}
            ref={isLookedFor(record) ? show : null}
          >
            <p class="cluster strong timeline-head">
              <DecisionName decision={record.decision} />
              <time class="digits" dateTime={record.decidedAt}>
                {dateAndTime(record.decidedAt)}
              </time>
              {domainOf && isolated(domainOf(record))}
              {isLookedFor(record) && <span class="tag">The record that you looked for</span>}
            </p>
            <Choices preferences={record.preferences} />
            <Circumstances record={record} />
            {record.notice === null ? (
              <p class="muted">What was shown was not recorded.</p>
            ) : (
              <RecordNotice record={record} text={notices[record.notice]} />
            )}
          </li>
        ))}
      </ol>
      {records.length > most && (
        <Button onClick={() => setMost(most + step)}>Show more of {count(records.length)}</Button>
      )}
    </section>
  );
}

/** Other stored fields that a person may ask for. */
function Circumstances({ record }: { record: FullRecord }) {
  const { receivedAt, metadata, erasedAt } = record;
  const facts: [string, string | null][] = [
    ['Received', `${dateAndTime(receivedAt)} UTC`],
    ...fieldsOf(record),
    ['Bot', record.bot ? 'yes' : null],
    ['Metadata', metadata && JSON.stringify(metadata)],
    ['Erased', erasedAt && `${dateAndTime(erasedAt)} UTC`],
    ['Record', record.id],
  ];
  return (
    <dl class="circumstances">
      {facts.map(([name, text]) =>
        text === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{isolated(text)}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** The choice for each category. */
export function Choices({ preferences }: { preferences: FullRecord['preferences'] }) {
  const choices = Object.entries(preferences ?? {});
  if (choices.length === 0) return <span class="muted">none</span>;
  return (
    <ul class="cluster choices">
      {choices.map(([name, isOn]) => (
        <li key={name}>
          <CategoryName id={name} />: {isOn ? 'allowed' : 'refused'}
        </li>
      ))}
    </ul>
  );
}
