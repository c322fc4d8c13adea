/** What an erasure has left: decisions of nobody. */
import { useEffect, useRef } from 'preact/hooks';
import type { Api } from '../../data/api.ts';
import type { Erased } from '../../data/erasing.ts';
import { count, dateAndTime } from '../../format.ts';
import { Timeline } from './timeline.tsx';

export function Left({ api, erased: { erasure, left } }: { api: Api; erased: Erased }) {
  const title = useRef<HTMLHeadingElement>(null);
  // the dialog that had the focus is gone
  useEffect(() => title.current?.focus(), []);
  return (
    <div class="stack">
      <section class="card message">
        <h2 ref={title} tabIndex={-1}>
          The visitor is erased
        </h2>
        <p>
          {count(erasure.records)} {erasure.records === 1 ? 'record has' : 'records have'} no visitor’s id, IP address,
          browser, page or metadata any more
          {erasure.erasedAt === null ? '' : `, since ${dateAndTime(erasure.erasedAt)} UTC`}. Decisions, figures and
          proofs are as they were.
        </p>
        <p class="muted">
          Erasure <code>{erasure.erasureId}</code>
        </p>
      </section>
      {left === null ? (
        <p class="notice">What is left is in the log, which your token or your plan does not include.</p>
      ) : (
        left.length > 0 && <Timeline api={api} records={left} notices={{}} title="What is left" />
      )}
    </div>
  );
}
