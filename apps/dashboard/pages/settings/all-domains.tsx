/** All domains, those that are archived apart, and how much of the plan is used. */
import { useState } from 'preact/hooks';
import type { ManagedDomain } from '#libs/contract/manage';
import type { Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import { useReading } from '../../data/reading.ts';
import { newDomainAddress, settingsAddress } from '../../data/router.ts';
import { count, dateOf, escapeInvisible } from '../../format.ts';
import { ErrorCard } from '../../parts/error-card.tsx';
import { OrganizationTabs } from '../../parts/organization-tabs.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { UsageFigure } from '../../parts/usage-figure.tsx';

/** More are searched. */
const few = 12;
/** Domains listed at once. */
const listed = 100;

interface Answer {
  domains: ManagedDomain[];
  organization: Organization;
}

export function AllDomains({ api, organization }: { api: Api; organization: Organization }) {
  const reading = useReading<Answer>('domains', async (signal) => {
    const [domains, current] = await Promise.all([api.manage.domains(signal), api.organization(signal)]);
    return { domains, organization: current };
  });
  const answer = reading.value;
  const isEmpty = answer?.domains.length === 0;
  return (
    <>
      <PageHead
        title="Domains"
        note="The websites whose visitors decide, who may record for them, and their keys. Times are UTC."
        tabs={<OrganizationTabs organization={organization} page="domains" />}
      >
        {answer && !isEmpty && (
          <a class="button primary settings-new" href={newDomainAddress}>
            New domain
          </a>
        )}
      </PageHead>
      {reading.error && <ErrorCard error={reading.error} retry={reading.retry} />}
      {!answer && !reading.error && <Skeleton kind="table" isSlow={reading.isSlow} />}
      {answer && (
        <div class="columns">
          {isEmpty ? (
            <section class="card message">
              <h2>No domains yet</h2>
              <p>A domain is a website whose visitors decide. Each has keys of its own, with which its pages record.</p>
              <a class="button primary" href={newDomainAddress}>
                New domain
              </a>
            </section>
          ) : (
            <List domains={answer.domains} />
          )}
          <UsageFigure plan={answer.organization.plan} usage={answer.organization.usage} />
        </div>
      )}
    </>
  );
}

function List({ domains }: { domains: ManagedDomain[] }) {
  const [search, setSearch] = useState('');
  const needle = search.trim().toLowerCase();
  const found = domains.filter(({ name, domainId }) => `${name} ${domainId}`.toLowerCase().includes(needle));
  const active = found.filter(({ archivedAt }) => archivedAt === null);
  const archived = found.filter(({ archivedAt }) => archivedAt !== null);
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
      <section class="card settings-list" aria-labelledby="active-title">
        <h2 id="active-title">
          Active <span class="muted">{count(active.length)}</span>
        </h2>
        {active.length === 0 && (
          <p class="muted settings-none">
            {needle === '' ? 'Every domain is archived.' : `No active domain matches “${search}”.`}
          </p>
        )}
        <Rows domains={active} />
      </section>
      {archived.length > 0 && (
        <section class="card settings-list" aria-labelledby="archived-title">
          <h2 id="archived-title">
            Archived <span class="muted">{count(archived.length)}</span>
          </h2>
          <Rows domains={archived} />
        </section>
      )}
    </div>
  );
}

const Rows = ({ domains }: { domains: ManagedDomain[] }) => (
  <>
    <ul>
      {domains.slice(0, listed).map(({ domainId, name, origins, createdAt, archivedAt }) => (
        <li key={domainId}>
          <a class="settings-name" href={settingsAddress(domainId)}>
            <bdi>{escapeInvisible(name)}</bdi>
          </a>
          <p class="hint">
            <code>{domainId}</code> ·{' '}
            {archivedAt === null
              ? `${originsText(origins)} · created ${dateOf(createdAt)}`
              : `archived ${dateOf(archivedAt)}`}
          </p>
        </li>
      ))}
    </ul>
    {domains.length > listed && (
      <p class="hint">and {count(domains.length - listed)} more: search to narrow the list</p>
    )}
  </>
);

function originsText([first, ...others]: string[]): string {
  if (first === undefined) return 'any origin';
  return others.length === 0 ? first : `${first} and ${count(others.length)} more`;
}
