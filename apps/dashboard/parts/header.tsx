/** Always in view: whose figures these are, where one is, and the way to any domain. */
import type { Organization } from '#libs/contract/responses';
import { domainAddress, homeAddress, logAddress, type Route } from '../data/router.ts';
import { visible } from '../format.ts';
import { DomainMenu } from './domain-menu.tsx';

export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M9 16.5l5 5 9-11" />
  </svg>
);

interface Props {
  organization: Organization | undefined;
  route: Route;
  signOut(): void;
}

export function Header({ organization, route, signOut }: Props) {
  const current = 'domainId' in route ? route.domainId : undefined;
  const addressOf = (domainId: string) =>
    route.page === 'log' ? logAddress(domainId) : domainAddress(domainId, kept(route));
  return (
    <header class="top">
      <div class="top-inner">
        <a class="brand" href={homeAddress} aria-current={route.page === 'home' ? 'page' : undefined}>
          <Mark />
          <span class="brand-name">
            <span class="hidden">Assent, home of </span>
            {organization ? <bdi>{visible(organization.name)}</bdi> : 'Assent'}
          </span>
        </a>
        {organization && organization.domains.length > 0 && (
          <DomainMenu domains={organization.domains} current={current} addressOf={addressOf} />
        )}
        <span class="top-space" />
        <a class="top-link" href="/docs">
          API
        </a>
        <button type="button" class="button quiet sign-out" onClick={signOut}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M10 4H5v16h5M9 12h11M16 8l4 4-4 4" />
          </svg>
          <span class="sign-out-text">Sign out</span>
        </button>
      </div>
    </header>
  );
}

/** From domain to domain one goes on looking at the same period. */
function kept(route: Route) {
  if (route.page !== 'domain') return {};
  return Object.fromEntries(['from', 'to', 'interval'].map((name) => [name, route.query.get(name) ?? undefined]));
}
