/** The bar at the top: organization, signed-in person, domain menu, API docs and sign-out. */
import type { ComponentChildren } from 'preact';
import type { Organization } from '#libs/stats/contract';
import './header.css';
import { base } from '../data/base.ts';
import { firstPageOf } from '../data/first-page.ts';
import { domainAddress, groupsAddress, homeAddress, type Route, tabsOf } from '../data/router.ts';
import { mayRead } from '../data/scopes.ts';
import { escapeInvisible } from '../format.ts';
import { Button } from './button.tsx';
import { DomainMenu } from './domain-menu.tsx';
import { isolated } from './isolated.tsx';
import { Logo } from './logo.tsx';

interface Props {
  organization: Organization | undefined;
  /** the signed-in person or token */
  subject: string;
  route: Route;
  /** shown at the right end */
  children: ComponentChildren;
}

export function Header({ organization, subject, route, children }: Props) {
  const current = 'domainId' in route ? route.domainId : undefined;
  const addressOf = (domainId: string) => {
    // another domain has no such visitor; statistics keep their period
    const tab = tabsOf(domainId).find(({ page }) => page === route.page && page !== 'visitor' && page !== 'domain');
    if (tab) return tab.address;
    if (route.page === 'groups') return groupsAddress(domainId, route.by, periodQuery(route));
    if (organization && !mayRead(organization)) return firstPageOf(domainId, organization);
    return domainAddress(domainId, periodQuery(route));
  };
  return (
    <header class="top">
      <div class="top-inner">
        <a class="brand" href={homeAddress} aria-current={route.page === 'home' ? 'page' : undefined}>
          <Logo />
          <span class="brand-text">
            <span class="clipped">
              <span class="hidden">Assent, overview of </span>
              {organization ? isolated(organization.name) : 'Assent'}
            </span>
            <span class="clipped brand-who" title={escapeInvisible(subject)}>
              <span class="hidden">, signed in as </span>
              {isolated(subject)}
            </span>
          </span>
        </a>
        {organization && organization.domains.length > 0 && (
          <DomainMenu domains={organization.domains} current={current} addressOf={addressOf} />
        )}
        <span class="wide-only top-space" />
        <a class="wide-only top-link" href={`${base}/docs`}>
          API
        </a>
        {children}
      </div>
    </header>
  );
}

export const SignOut = ({ onClick }: { onClick(): void }) => (
  <Button kind="quiet" class="account-button" onClick={onClick}>
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d="M10 4H5v16h5M9 12h11M16 8l4 4-4 4" />
    </svg>
    <span class="hidden-on-phone">Sign out</span>
  </Button>
);

/** The period and interval of the current page, for links to another domain. */
function periodQuery(route: Route) {
  if (!('query' in route)) return {};
  return Object.fromEntries(['from', 'to', 'interval'].map((name) => [name, route.query.get(name) ?? undefined]));
}
