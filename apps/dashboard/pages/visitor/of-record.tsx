/** Visitors know the id of their record, which the widget shows them: whoever types that is led to its visitor. */
import type { Api } from '../../data/api.ts';
import { useReading } from '../../data/reading.ts';
import { visitorAddress } from '../../data/router.ts';
import { escapeInvisible } from '../../format.ts';

const uuidv7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

export const mayBeRecord = (typed: string): boolean => uuidv7Pattern.test(typed);

export function OfRecord({ api, domainId, recordId }: { api: Api; domainId: string; recordId: string }) {
  const { value: record } = useReading(`${domainId} ${recordId}`, (signal) => api.record(domainId, recordId, signal));
  // unknown, or the token or the plan does not allow to read it
  if (!record) return null;
  return (
    <p role="status">
      {record.visitorId === null ? (
        'A record has this id, and it names no visitor.'
      ) : (
        <>
          A record has this id. Its visitor is{' '}
          <a href={visitorAddress(domainId, record.visitorId)}>
            <bdi>{escapeInvisible(record.visitorId)}</bdi>
          </a>
          .
        </>
      )}
    </p>
  );
}
