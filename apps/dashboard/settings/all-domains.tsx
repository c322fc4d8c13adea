/** All domains, those that are archived apart, and how much of the plan is used. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Organization } from '#libs/stats/contract';
import type { ManagedDomain } from '#libs/tenants/contract';
import { domainsFound } from '../data/domains.ts';
import { useReading } from '../data/query.ts';
import { newDomainAddress, settingsAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, dateOf } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';
import { ThingsPage } from '../parts/things-page.tsx';
import { UsageFigure } from '../parts/usage-figure.tsx';

/** More are searched. */
const few = 12;
/** Domains listed at once. */
const listed = 100;

interface Answer {
  domains: ManagedDomain[];
  organization: Organization;
}

export function AllDomains() {
  const { api } = useSignedIn();
  const reading = useReading<Answer>('domains', async (signal) => {
    const [domains, organization] = await Promise.all([api.manage.domains(signal), api.organization(signal)]);
    return { domains, organization };
  });
  return (
    <ThingsPage
      page="domains"
      title="Domains"
      note="The websites where you ask for consent, who may record for them, and their keys. Times are UTC."
      make={{ text: 'New domain', href: newDomainAddress }}
      reading={reading}
      isEmpty={({ domains }) => domains.length === 0}
      none={{
        title: 'No domains yet',
        text: 'A domain is a website where you ask for consent. Each has keys of its own, with which its pages record.',
      }}
      beside={({ organization: { plan, usage } }) => <UsageFigure plan={plan} usage={usage} />}
    >
      {({ domains }) => <List domains={domains} />}
    </ThingsPage>
  );
}

function List({ domains }: { domains: ManagedDomain[] }) {
  const [search, setSearch] = useState('');
  const found = domainsFound(domains, search);
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
      <Part id="active-title" title="Active" domains={active}>
        {active.length === 0 && (
          <p class="muted settings-none">
            {search.trim() === '' ? 'Every domain is archived.' : `No active domain matches “${search}”.`}
          </p>
        )}
      </Part>
      {archived.length > 0 && <Part id="archived-title" title="Archived" domains={archived} />}
    </div>
  );
}

interface PartProps {
  id: string;
  title: string;
  domains: ManagedDomain[];
  children?: ComponentChildren;
}

const Part = ({ id, title, domains, children }: PartProps) => (
  <section class="card settings-list" aria-labelledby={id}>
    <h2 id={id}>
      {title} <span class="muted">{count(domains.length)}</span>
    </h2>
    {children}
    <ul class="rows after-head">
      {domains.slice(0, listed).map(({ domainId, name, origins, createdAt, archivedAt }) => (
        <li key={domainId}>
          <a class="strong anywhere" href={settingsAddress(domainId)}>
            {isolated(name)}
          </a>
          <p class="hint anywhere">
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
  </section>
);

function originsText([first, ...others]: string[]): string {
  if (first === undefined) return 'any origin';
  return others.length === 0 ? first : `${first} and ${count(others.length)} more`;
}
