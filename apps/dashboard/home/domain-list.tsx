/** All active domains with their figures, those with the most decisions first. */
import { useRef, useState } from 'preact/hooks';
import type { Organization } from '#libs/stats/contract';
import type { DomainFigures } from '../data/domain-figures.ts';
import type { Period } from '../data/periods.ts';
import { domainAddress } from '../data/router.ts';
import { count, counted, share } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { useFocusAfter } from '../parts/focus.tsx';
import { isolated } from '../parts/isolated.tsx';
import { type Column, Table, useSorted } from '../parts/table.tsx';

/** rows shown at first, and added by each click */
const listed = 20;
const listedMore = 200;

interface Props extends Pick<Organization, 'domains'> {
  figures: DomainFigures | null | undefined;
  /** null: the last 30 days */
  chosen: Period | null;
}

export function DomainList({ domains, figures, chosen }: Props) {
  const [most, setMost] = useState(listed);
  const active = domains.filter(({ archivedAt }) => archivedAt === undefined);
  const rows = active.map((domain) => ({ ...domain, figures: figures?.get(domain.domainId) }));
  const absent = figures === undefined ? '…' : '–';
  const columns: Column<(typeof rows)[number]>[] = [
    {
      head: 'Name',
      is: 'name',
      sort: { by: 'name', value: ({ name }) => name },
      cell: ({ domainId, name }) => (
        <a class="clipped" href={domainAddress(domainId, { ...chosen })}>
          {isolated(name)}
        </a>
      ),
    },
    {
      head: 'Decisions',
      is: 'number',
      sort: { by: 'total', value: (row) => row.figures?.total ?? null },
      cell: (row) => (row.figures ? count(row.figures.total) : absent),
    },
    {
      head: 'Opt-in',
      is: 'number',
      sort: { by: 'rate', value: (row) => row.figures?.optInRate ?? null },
      cell: (row) => {
        if (!row.figures) return absent;
        return row.figures.optInRate === null ? 'no choices' : share(row.figures.optInRate);
      },
    },
  ];
  const { rows: ranked, sorting } = useSorted(rows, columns, { by: 'total', isDescending: true });
  const more = Math.min(active.length - most, listedMore);
  const archived = domains.length - active.length;
  const [list, firstNew] = [useRef<HTMLElement>(null), useRef(0)];
  // the button disappears with the last domain
  useFocusAfter(more > 0, () => list.current?.querySelectorAll<HTMLElement>('tbody a')[firstNew.current]);
  return (
    <nav class="card domains" ref={list} aria-labelledby="domains-title">
      <header class="card-head">
        <h2 id="domains-title">Domains</h2>
        <p class="muted">{count(active.length)}</p>
      </header>
      <Table
        class="flush dense"
        keyOf={({ domainId }) => domainId}
        columns={columns}
        rows={ranked.slice(0, most)}
        sorting={sorting}
      />
      {more > 0 && (
        <Button
          text={`Show ${count(more)} more`}
          onClick={() => {
            firstNew.current = most;
            setMost(most + listedMore);
          }}
        />
      )}
      <p class="hint">
        {figures === null
          ? 'Figures by domain cover at most 366 days.'
          : 'Without crawlers. Opt-in = opt-ins ÷ choices.'}
      </p>
      {archived > 0 && <p class="hint">{counted(archived, 'archived domain')} in the menu at the top</p>}
    </nav>
  );
}
