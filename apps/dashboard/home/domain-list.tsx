/** The first domains with their opt-in rates. The menu in the header has all of them, and those that are archived. */
import { useState } from 'preact/hooks';
import type { OrgStats } from '#libs/log/contract';
import type { Organization } from '#libs/stats/contract';
import type { Api } from '../data/api.ts';
import { useLive } from '../data/query.ts';
import { domainAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, share } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';
import { type Column, Table, useSorted } from '../parts/table.tsx';

const listed = 20;

/** Not read yet, or in vain. */
const absent = (figures: null | undefined): string => (figures === null ? '–' : '…');
const opted = (rate: number | null): string => (rate === null ? 'no choices' : share(rate));

interface Props extends Pick<Organization, 'domains'> {
  period: OrgStats['period'];
}

export function DomainList({ domains, period }: Props) {
  const { api } = useSignedIn();
  const active = domains.filter(({ archivedAt }) => archivedAt === undefined);
  const first = active.slice(0, listed);
  const rates = useDomainRates(
    api,
    first.map(({ domainId }) => domainId),
    period,
  );
  const rows = first.map((domain) => ({ ...domain, figures: rates.get(domain.domainId) }));
  const columns: Column<(typeof rows)[number]>[] = [
    {
      head: 'Name',
      is: 'name',
      sort: { by: 'name', value: ({ name }) => name },
      cell: ({ domainId, name }) => (
        <a class="clipped" href={domainAddress(domainId)}>
          {isolated(name)}
        </a>
      ),
    },
    {
      head: 'Decisions',
      is: 'number',
      sort: { by: 'total', value: ({ figures }) => figures?.total ?? null },
      cell: ({ figures }) => (figures ? count(figures.total) : absent(figures)),
    },
    {
      head: 'Opt-in',
      is: 'number',
      sort: { by: 'rate', value: ({ figures }) => figures?.rate ?? null },
      cell: ({ figures }) => (figures ? opted(figures.rate) : absent(figures)),
    },
  ];
  const shown = useSorted(rows, columns);
  const more = active.length - rows.length;
  const archived = domains.length - active.length;
  return (
    <nav class="card domains" aria-labelledby="domains-title">
      <header class="card-head">
        <h2 id="domains-title">Domains</h2>
        <p class="muted">{count(active.length)}</p>
      </header>
      <Table class="flush dense" keyOf={({ domainId }) => domainId} columns={columns} {...shown} />
      <p class="hint">Opt-in = opt-ins ÷ choices of the last 30 days, without crawlers.</p>
      {(more > 0 || archived > 0) && (
        <p class="hint">
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

/** Milliseconds between two rounds: rates move once an epoch. */
const interval = 60_000;

interface DomainRate {
  total: number;
  /** null without choices */
  rate: number | null;
}

/** Those that were asked for so far, null where that failed. Read anew each minute in a tab that is seen. */
function useDomainRates(
  api: Api,
  domainIds: readonly string[],
  { from, to }: OrgStats['period'],
): ReadonlyMap<string, DomainRate | null> {
  const [rates, setRates] = useState<ReadonlyMap<string, DomainRate | null>>(new Map());
  useLive([from, to, ...domainIds].join(' '), {
    ask: async (signal) => {
      for (const domainId of domainIds) {
        const stats = await api.stats(domainId, { from, to, by: 'source' }, signal).catch(() => null);
        if (signal.aborted) return;
        const rate = stats && { total: stats.total, rate: stats.optInRate ?? null };
        setRates((before) => new Map(before).set(domainId, rate ?? before.get(domainId) ?? null));
      }
    },
    onAnswer: () => {},
    interval,
    isEager: true,
  });
  return rates;
}
