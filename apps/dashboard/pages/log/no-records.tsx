/** Shown instead of the table when the page has no rows, with the reason. */
import type { RecordsPage } from '#libs/contract/responses';
import { hasFilters, type LogQuery } from '../../data/log-query.ts';
import { count, escapeInvisible } from '../../format.ts';

export function NoRecords({
  query,
  answer,
  addressOf,
}: {
  query: LogQuery;
  answer: RecordsPage;
  addressOf(query: LogQuery): string;
}) {
  if (answer.total > 0)
    return (
      <div class="nothing">
        <h2>This page is past the end</h2>
        <p>
          The log has {count(answer.total)} such records.{' '}
          <a href={addressOf({ ...query, page: 1 })}>To the first page</a>
        </p>
      </div>
    );
  if (!hasFilters(query))
    return (
      <div class="nothing">
        <h2>No records yet</h2>
        <p>Nobody has decided on this domain so far. The overview shows the tag to put on the site.</p>
      </div>
    );
  return (
    <div class="nothing">
      <h2>No record matches</h2>
      <p>
        {query.visitorId ? (
          <>
            No record of the visitor <bdi>“{escapeInvisible(query.visitorId)}”</bdi> with these filters. Ids are
            compared whole, letter by letter.
          </>
        ) : (
          'Try fewer filters, or another period.'
        )}
      </p>
    </div>
  );
}
