/** The stream of records, which goes on where one scrolls. */

import { useEffect, useRef } from 'preact/hooks';
import { dayOf } from '#libs/contract/calendar';
import type { FullRecord } from '#libs/contract/responses';
import { domainAddress } from '../../data/router.ts';
import { now } from '../../data/service-clock.ts';
import { idOf, isFull, lengthOf, type Stream, type StreamRecord } from '../../data/stream.ts';
import { clock, count, dayOfTime, visible } from '../../format.ts';
import { DecisionName } from '../../parts/decision.tsx';
import { memo } from '../../parts/memo.ts';

/** Past these rows the logs of the domains are the better place to look. */
const most = 5_000;

/** Only the first chunk grows: the others are not drawn again with each record that arrives. */
const none: ReadonlySet<string> = new Set();

export interface More {
  isLoading: boolean;
  hasFailed: boolean;
  load(): void;
}

interface Props {
  stream: Stream;
  names: ReadonlyMap<string, string>;
  total: number;
  more: More;
  /** the plan has the log, so records come whole */
  hasLog: boolean;
  onOpen(record: FullRecord): void;
}

export function StreamList({ stream, names, total, more, hasLog, onOpen }: Props) {
  const length = lengthOf(stream);
  const hasMore = stream.cursor !== null && length < most;
  return (
    <section class="card stream" aria-labelledby="stream-title">
      <header class="card-head">
        <h2 id="stream-title">Latest records</h2>
        <p class="muted">Last 7 days, {count(total)} in all. Times are UTC.</p>
      </header>
      {!hasLog && <p class="muted">On this plan the log itself is not part; here are time, decision and domain.</p>}
      {length === 0 && <p class="muted">No record in the last 7 days.</p>}
      {stream.chunks.map((chunk, index) => (
        <Chunk
          key={chunk.at(-1)?.id}
          chunk={chunk}
          names={names}
          arrived={index === 0 ? stream.arrived : none}
          onOpen={onOpen}
        />
      ))}
      {hasMore && <MoreRows more={more} />}
      {length >= most && (
        <p class="muted">These are {count(length)} records. The log of each domain has all of them, with filters.</p>
      )}
      {!hasMore && length > 0 && length < most && <p class="muted stream-end">That is all of the last 7 days.</p>}
    </section>
  );
}

const Chunk = memo(function Chunk({
  chunk,
  names,
  arrived,
  onOpen,
}: Pick<Props, 'names' | 'onOpen'> & { chunk: StreamRecord[]; arrived: ReadonlySet<string> }) {
  const today = dayOf(now());
  return (
    <ol class="stream-rows">
      {chunk.map((record) => (
        <li key={idOf(record)} class={arrived.has(idOf(record)) ? 'stream-row arrived' : 'stream-row'}>
          <time dateTime={record.decidedAt}>
            {record.decidedAt.slice(0, 10) !== today && <span class="muted">{dayOfTime(record.decidedAt)} </span>}
            {clock(record.decidedAt)}
          </time>
          <DecisionName decision={record.decision} />
          <a href={domainAddress(record.domainId)}>
            <bdi>{visible(names.get(record.domainId) ?? record.domainId)}</bdi>
          </a>
          <span class="stream-visitor muted">
            {isFull(record) && record.visitorId !== null && <bdi title="visitor">{visible(record.visitorId)}</bdi>}
            {isFull(record) && record.bot && <span class="tag"> bot</span>}
          </span>
          {isFull(record) && (
            <button
              type="button"
              class="button quiet"
              aria-label={`Details of the record of ${clock(record.decidedAt)}`}
              onClick={() => onOpen(record)}
            >
              Details
            </button>
          )}
        </li>
      ))}
    </ol>
  );
});

/** A button for everybody, pressed by itself when it comes into view. */
function MoreRows({ more }: { more: More }) {
  const button = useRef<HTMLButtonElement>(null);
  const latest = useRef(more);
  latest.current = more;
  // looks anew after each page: the button may still be in view
  useEffect(() => {
    const element = button.current;
    if (!element || more.isLoading || more.hasFailed) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current.load();
      },
      { rootMargin: '600px' },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [more.isLoading, more.hasFailed]);
  return (
    <div class="stream-more">
      {more.hasFailed && <span role="alert">Older records could not be loaded. </span>}
      <button type="button" class="button" ref={button} disabled={more.isLoading} onClick={() => more.load()}>
        {more.isLoading ? 'Loading older records …' : more.hasFailed ? 'Try again' : 'Older records'}
      </button>
    </div>
  );
}
