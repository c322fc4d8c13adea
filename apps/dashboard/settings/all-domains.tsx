/** All domains with their figures for 30 days, archived domains, and the usage of the plan. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Organization, StatsGroup } from '#libs/stats/contract';
import type { ListedDomain } from '#libs/tenants/contract';
import { type DomainFigures, silentDays, useDomainFigures } from '../data/domain-figures.ts';
import { domainsFound } from '../data/domains.ts';
import { firstPageOf } from '../data/first-page.ts';
import { defaultPeriod } from '../data/periods.ts';
import { useReading } from '../data/query.ts';
import { newDomainAddress } from '../data/router.ts';
import { mayRead } from '../data/scopes.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateAndTime, dateOf, share } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';
import { SilentTag } from '../parts/silent-tag.tsx';
import { type Column, Table, useSorted } from '../parts/table.tsx';
import { ThingsPage } from '../parts/things-page.tsx';
import { UsageFigure } from '../parts/usage-figure.tsx';

/** With more domains, a search field is shown. */
const few = 12;
/** domains listed at a time */
const listed = 100;

interface Answer {
  domains: ListedDomain[];
  organization: Organization;
}

export function AllDomains() {
  const { api, organization } = useSignedIn();
  const figures = useDomainFigures(mayRead(organization) ? defaultPeriod(now()) : null);
  const reading = useReading<Answer>('domains', async (signal) => {
    const [domains, organization] = await Promise.all([api.manage.domains(signal), api.organization(signal)]);
    return { domains, organization };
  });
  return (
    <ThingsPage
      page="domains"
      title="Domains"
      note="The websites where you ask for consent, with their figures of the last 30 days. Times are UTC."
      make={{ text: 'New domain', href: newDomainAddress }}
      reading={reading}
      isEmpty={({ domains }) => domains.length === 0}
      none={{
        title: 'No domains yet',
        text: 'A domain is a website where you ask for consent. Each has keys of its own, with which its pages record.',
      }}
      beside={({ organization: { plan, usage } }) => <UsageFigure plan={plan} usage={usage} />}
    >
      {({ domains }) => <List domains={domains} figures={figures} />}
    </ThingsPage>
  );
}

interface ListProps {
  domains: ListedDomain[];
  figures: DomainFigures | null | undefined;
}

function List({ domains, figures }: ListProps) {
  const [search, setSearch] = useState('');
  const found = domainsFound(domains, search).map((domain) => ({ ...domain, figures: figures?.get(domain.domainId) }));
  const active = found.filter(({ archivedAt }) => archivedAt === null);
  const archived = found.filter(({ archivedAt }) => archivedAt !== null);
  // absent if the token may not read figures
  const wait = figures === null ? undefined : '…';
  return (
    <div class="stack">
      {domains.length > few && (
        <input
          type="search"
          aria-label="Search domains"
          placeholder={`Search ${count(domains.length)} domains`}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      <Part id="active-title" title="Active" domains={active} columns={activeColumns(wait)}>
        {active.length === 0 && (
          <p class="muted settings-none">
            {search.trim() === '' ? 'Every domain is archived.' : `No active domain matches “${search}”.`}
          </p>
        )}
      </Part>
      {archived.length > 0 && (
        <Part id="archived-title" title="Archived" domains={archived} columns={archivedColumns(wait)} />
      )}
    </div>
  );
}

type Row = ListedDomain & { figures: StatsGroup | undefined };
/** `wait`: placeholder for figures that are loading. */
type Columns = (Column<Row> | false)[];

interface PartProps {
  id: string;
  title: string;
  domains: Row[];
  columns: Columns;
  children?: ComponentChildren;
}

function Part({ id, title, domains, columns, children }: PartProps) {
  const { rows, sorting } = useSorted(domains, columns, { by: 'name', isDescending: false });
  return (
    <section class="card settings-list" aria-labelledby={id}>
      <h2 id={id}>
        {title} <span class="muted">{count(domains.length)}</span>
      </h2>
      {children}
      {rows.length > 0 && (
        <Table
          class="flush"
          caption={`${title} domains`}
          keyOf={({ domainId }) => domainId}
          columns={columns}
          rows={rows.slice(0, listed)}
          sorting={sorting}
        />
      )}
      {rows.length > listed && <p class="hint">and {count(rows.length - listed)} more: search to narrow the list</p>}
    </section>
  );
}

const name: Column<Row> = {
  head: 'Name',
  is: 'name',
  class: 'anywhere',
  sort: { by: 'name', value: (row) => row.name },
  cell: (row) => <Name {...row} />,
};

function Name({ domainId, name, archivedAt, figures }: Row) {
  const { organization } = useSignedIn();
  const silent = archivedAt === null ? silentDays(figures?.lastDecisionAt) : 0;
  return (
    <>
      <a class="strong" href={firstPageOf(domainId, organization)}>
        {isolated(name)}
      </a>
      <SilentTag days={silent} />
      <br />
      <code class="muted wide-only">{domainId}</code>
    </>
  );
}

const lastDecision = (wait: string): Column<Row> => ({
  head: 'Last decision',
  headClass: 'wide-only',
  class: 'wide-only digits',
  sort: { by: 'last', value: ({ figures }) => figures?.lastDecisionAt ?? null },
  cell: ({ figures }) => (figures ? (figures.lastDecisionAt ? dateAndTime(figures.lastDecisionAt) : 'none yet') : wait),
});

const activeColumns = (wait: string | undefined): Columns => [
  name,
  wait !== undefined && {
    head: 'Decisions',
    is: 'number',
    sort: { by: 'total', value: ({ figures }) => figures?.total ?? null },
    cell: ({ figures }) => (figures ? count(figures.total) : wait),
  },
  wait !== undefined && {
    head: 'Opt-in',
    is: 'number',
    sort: { by: 'rate', value: ({ figures }) => figures?.optInRate ?? null },
    cell: ({ figures }) => (figures ? share(figures.optInRate) : wait),
  },
  wait !== undefined && lastDecision(wait),
  {
    head: 'Keys',
    is: 'number',
    headClass: 'wide-only',
    class: 'wide-only',
    sort: { by: 'keys', value: ({ activeKeys }) => activeKeys },
    cell: ({ activeKeys }) => count(activeKeys),
  },
];

const archivedColumns = (wait: string | undefined): Columns => [
  name,
  wait !== undefined && lastDecision(wait),
  {
    head: 'Archived',
    class: 'digits',
    sort: { by: 'archived', value: ({ archivedAt }) => archivedAt },
    cell: ({ archivedAt }) => archivedAt && dateOf(archivedAt),
  },
];
