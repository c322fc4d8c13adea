/** A visitor's decisions, newest first, each with what was shown. */
import { useState } from 'preact/hooks';
import type { FullRecord } from '#libs/contract/record';
import type { Api } from '../../data/api.ts';
import { count, dateAndTime, escapeInvisible } from '../../format.ts';
import { DecisionName } from '../../parts/decision-name.tsx';
import { RecordNotice } from '../../parts/record-notice.tsx';
import { Choices } from './choices.tsx';

/** Records shown at once. */
const step = 50;

interface Props {
  api: Api;
  records: FullRecord[];
  /** hash → document */
  notices: Record<string, string>;
  title?: string;
}

export function Timeline({ api, records, notices, title = 'Decisions' }: Props) {
  const [most, setMost] = useState(step);
  return (
    <section class="card" aria-labelledby="timeline-title">
      <header class="card-head">
        <h2 id="timeline-title">{title}</h2>
        <p class="muted">Newest first</p>
      </header>
      <ol class="timeline">
        {records.slice(0, most).map((record) => (
          <li key={record.id}>
            <p class="timeline-head">
              <DecisionName decision={record.decision} />
              <time dateTime={record.decidedAt}>{dateAndTime(record.decidedAt)}</time>
            </p>
            <Choices preferences={record.preferences} />
            {record.pageUrl !== null && (
              <p class="muted">
                <bdi>{escapeInvisible(record.pageUrl)}</bdi>
              </p>
            )}
            <p class="muted">
              Record <code>{record.id}</code>
            </p>
            {record.notice === null ? (
              <p class="muted">What was shown was not recorded.</p>
            ) : (
              <RecordNotice api={api} record={record} text={notices[record.notice]} />
            )}
          </li>
        ))}
      </ol>
      {records.length > most && (
        <button type="button" class="button" onClick={() => setMost(most + step)}>
          Show more of {count(records.length)}
        </button>
      )}
    </section>
  );
}
