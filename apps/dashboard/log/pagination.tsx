/** Links to the other pages of the log, and a select for their size. */
import type { RecordsPage } from '#libs/log/contract';
import { navigate } from '../data/router.ts';
import { count, counted } from '../format.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Select } from '../parts/field.tsx';
import { type LogQuery, pageSizes } from './log-query.ts';

interface Props {
  answer: RecordsPage;
  query: LogQuery;
  addressOf(query: LogQuery): string;
}

export function Pagination({ answer, query, addressOf }: Props) {
  const { page, limit, total, totalPages, records } = answer;
  const first = (page - 1) * limit + 1;
  const to = (wanted: number) => addressOf({ ...query, page: wanted });
  return (
    <nav class="cluster pages" aria-label="Pages of the log">
      <p role="status" class="digits">
        {records.length > 0
          ? `${count(first)} to ${count(first + records.length - 1)} of ${counted(total, 'record')}`
          : counted(total, 'record')}
      </p>
      <Select
        label="Rows"
        class="in-row"
        options={pageSizes.map((size) => ({ value: size, name: size }))}
        chosen={query.limit}
        onChoose={(limit) => navigate(addressOf({ ...query, limit: Number(limit), page: 1 }))}
      />
      <span class="cluster at-end pages-links">
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
  to === null ? <span class="button off">{name}</span> : <ButtonLink text={name} href={to} />;
