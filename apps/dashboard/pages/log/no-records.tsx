/** Shown instead of the table when the page has no rows, with the reason. */
import type { RecordsPage } from '#libs/contract/log';
import { hasFilters, type LogQuery } from '../../data/log-query.ts';
import { count, escapeInvisible } from '../../format.ts';

export function NoRecords({
  query,
  answer,
  isArchived,
  addressOf,
}: {
  query: LogQuery;
  answer: RecordsPage;
  isArchived: boolean;
  addressOf(query: LogQuery): string;
}) {
  if (answer.total > 0)
    return (
      <div class="nothing">
        <h2>This page is past the end</h2>
        <p>
          The log has {count(answer.total)} matching records.{' '}
          <a href={addressOf({ ...query, page: 1 })}>Go to the first page</a>
        </p>
      </div>
    );
  if (!hasFilters(query))
    return (
      <div class="nothing">
        <h2>No records yet</h2>
        <p>
          {isArchived
            ? 'This domain was archived before anybody decided.'
            : 'Nobody has decided on this domain yet. Its statistics page shows the tag for the site.'}
        </p>
      </div>
    );
  return (
    <div class="nothing">
      <h2>No matching records</h2>
      <p>
        {query.visitorId ? (
          <>
            No record of the visitor <bdi>“{escapeInvisible(query.visitorId)}”</bdi> matches these filters. The id has
            to match exactly.
          </>
        ) : (
          'Try fewer filters or another period.'
        )}
      </p>
    </div>
  );
}
