/** The first domains with their opt-in rates. The menu in the header has all of them, and those that are archived. */
import { useState } from 'preact/hooks';
import type { OrgStats } from '#libs/contract/log';
import type { Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import { domainAddress } from '../../data/router.ts';
import { type Sort, sorted } from '../../data/sorted.ts';
import { count, escapeInvisible, share } from '../../format.ts';
import { SortHead } from '../../parts/sort-head.tsx';
import { useDomainRates } from './domain-rates.ts';

const listed = 20;

/** Not read yet, or in vain. */
const absent = (figures: null | undefined): string => (figures === null ? '–' : '…');
const opted = (rate: number | null): string => (rate === null ? 'no choices' : share(rate));

type Column = 'name' | 'total' | 'rate';

interface Props extends Pick<Organization, 'domains'> {
  api: Api;
  period: OrgStats['period'];
}

export function DomainList({ api, domains, period }: Props) {
  const [sort, setSort] = useState<Sort<Column> | null>(null);
  const active = domains.filter(({ archivedAt }) => archivedAt === undefined);
  const first = active.slice(0, listed);
  const rates = useDomainRates(
    api,
    first.map(({ domainId }) => domainId),
    period,
  );
  const rows = first.map((domain) => ({ ...domain, figures: rates.get(domain.domainId) }));
  const shown = sort
    ? sorted(rows, (row) => (sort.by === 'name' ? row.name : (row.figures?.[sort.by] ?? null)), sort.isDescending)
    : rows;
  const more = active.length - shown.length;
  const archived = domains.length - active.length;
  const heads = { sort, setSort };
  return (
    <nav class="card domains" aria-labelledby="domains-title">
      <header class="card-head">
        <h2 id="domains-title">Domains</h2>
        <p class="muted">{count(active.length)}</p>
      </header>
      <table>
        <thead>
          <tr>
            <SortHead column="name" isText {...heads}>
              Name
            </SortHead>
            <SortHead column="total" {...heads}>
              Decisions
            </SortHead>
            <SortHead column="rate" {...heads}>
              Opt-in
            </SortHead>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ domainId, name, figures }) => (
            <tr key={domainId}>
              <th scope="row">
                <a href={domainAddress(domainId)}>
                  <bdi>{escapeInvisible(name)}</bdi>
                </a>
              </th>
              <td class="number">{figures ? count(figures.total) : absent(figures)}</td>
              <td class="number">{figures ? opted(figures.rate) : absent(figures)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted">Opt-in = opt-ins ÷ choices of the last 30 days, without crawlers.</p>
      {(more > 0 || archived > 0) && (
        <p class="muted">
          and{' '}
          {[more > 0 && `${count(more)} more`, archived > 0 && `${count(archived)} archived`]
            .filter(Boolean)
            .join(', ')}{' '}
          in the menu at the top
        </p>
      )}
    </nav>
  );
}
