/** Links to the other pages of the log, and the choice of their size. */
import type { RecordsPage } from '#libs/contract/log';
import { type LogQuery, pageSizes } from '../../data/log-query.ts';
import { count } from '../../format.ts';

interface Props {
  answer: RecordsPage;
  query: LogQuery;
  addressOf(query: LogQuery): string;
  navigate(address: string): void;
}

export function Pagination({ answer, query, addressOf, navigate }: Props) {
  const { page, limit, total, totalPages, records } = answer;
  const first = (page - 1) * limit + 1;
  const to = (wanted: number) => addressOf({ ...query, page: wanted });
  return (
    <nav class="pages" aria-label="Pages of the log">
      <p role="status">
        {records.length > 0
          ? `${count(first)} to ${count(first + records.length - 1)} of ${count(total)} records`
          : `${count(total)} records`}
      </p>
      <label>
        Rows
        <select
          value={query.limit}
          onChange={(event) => navigate(addressOf({ ...query, limit: Number(event.currentTarget.value), page: 1 }))}
        >
          {pageSizes.map((size) => (
            <option key={size} value={size}>
              {size}
            </option>
          ))}
        </select>
      </label>
      <span class="pages-links">
        <PageLink name="First" to={page > 1 ? to(1) : null} />
        <PageLink name="Previous" to={page > 1 ? to(Math.min(page - 1, Math.max(totalPages, 1))) : null} />
        <span class="muted">
          Page {count(page)} of {count(Math.max(totalPages, 1))}
        </span>
        <PageLink name="Next" to={page < totalPages ? to(page + 1) : null} />
        <PageLink name="Last" to={page < totalPages ? to(totalPages) : null} />
      </span>
    </nav>
  );
}

const PageLink = ({ name, to }: { name: string; to: string | null }) =>
  to === null ? (
    <span class="button off">{name}</span>
  ) : (
    <a class="button" href={to}>
      {name}
    </a>
  );
