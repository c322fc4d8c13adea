/** The latest records of all domains. A click loads older ones, and from then on scrolling does. */
import { useState } from 'preact/hooks';

import type { FullRecord } from '#libs/record/contract';
import type { NextPage } from '../data/next-page.ts';
import { domainAddress } from '../data/router.ts';
import { count, dayTick, escapeInvisible, timeOfDay } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { DecisionName } from '../parts/decision-name.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LoadOlder } from '../parts/load-older.tsx';
import { memo } from '../parts/memo.ts';
import { idOf, isFull, lengthOf, type Stream, type StreamRecord } from './stream.ts';

/** rows shown until older records are loaded, however many arrive */
const fewRows = 10;
/** Loading stops at this many rows: the log of a domain is the better place to look further. */
const mostRows = 5_000;

/** Only the first chunk highlights new records. The others share this constant, so that `memo` skips them. */
const noArrivals: ReadonlySet<string> = new Set();

interface Props {
  stream: Stream;
  names: ReadonlyMap<string, string>;
  total: number;
  older: NextPage;
  /** whether the plan includes the log, so that records are complete */
  hasLog: boolean;
  onOpen(record: FullRecord): void;
}

export function LatestRecords({ stream, names, total, older, hasLog, onOpen }: Props) {
  const [isWhole, setWhole] = useState(false);
  const length = lengthOf(stream);
  const hasMore = (stream.cursor !== null && length < mostRows) || (!isWhole && length > fewRows);
  // after a split, some new records are in the second chunk
  const chunks = isWhole ? stream.chunks : [stream.chunks.slice(0, 2).flat().slice(0, fewRows)];
  const showOlder = () => {
    setWhole(true);
    older.load();
  };
  return (
    <section class="card stream" aria-labelledby="stream-title">
      <header class="card-head">
        <h2 id="stream-title">Latest records</h2>
        <p class="muted">Last 7 days, {count(total)} in total. Times are UTC.</p>
      </header>
      {!hasLog && (
        <p class="muted">Your plan does not include the log. Records show their time, decision and domain.</p>
      )}
      {length === 0 && <p class="muted">No records in the last 7 days.</p>}
      {chunks.map((chunk, index) => (
        <Chunk
          key={isWhole ? chunk.at(-1)?.id : 'few'}
          chunk={chunk}
          names={names}
          arrived={index === 0 ? stream.arrived : noArrivals}
          onOpen={onOpen}
        />
      ))}
      {hasMore && <LoadOlder older={{ ...older, load: showOlder }} what="records" isAutomatic={isWhole} />}
      {!hasMore && length >= mostRows && (
        <p class="muted">
          These are the newest {count(length)} records. The log of each domain has all of them, with filters.
        </p>
      )}
      {!hasMore && length > 0 && length < mostRows && (
        <p class="hint stream-end">No older records in the last 7 days.</p>
      )}
    </section>
  );
}

const Chunk = memo(function Chunk({
  chunk,
  names,
  arrived,
  onOpen,
}: Pick<Props, 'names' | 'onOpen'> & { chunk: StreamRecord[]; arrived: ReadonlySet<string> }) {
  return (
    <ol>
      {chunk.map((record) => (
        <li key={idOf(record)} class={arrived.has(idOf(record)) ? 'stream-row arrived' : 'stream-row'}>
          <time class="digits" dateTime={record.decidedAt}>
            <span class="muted">{dayTick(record.decidedAt.slice(0, 10))}</span> {timeOfDay(record.decidedAt)}
          </time>
          <DecisionName decision={record.decision} />
          <a class="clipped" href={domainAddress(record.domainId)}>
            {isolated(names.get(record.domainId) ?? record.domainId)}
          </a>
          <span class="wide-only clipped hint">
            {isFull(record) && record.visitorId !== null && (
              <bdi title="visitor">{escapeInvisible(record.visitorId)}</bdi>
            )}
            {isFull(record) && record.bot && <span class="tag"> bot</span>}
          </span>
          {isFull(record) && (
            <Button
              text="Details"
              kind="quiet"
              aria-label={`Details of the record from ${timeOfDay(record.decidedAt)}`}
              onClick={() => onOpen(record)}
            />
          )}
        </li>
      ))}
    </ol>
  );
});
