/** The head of a page: breadcrumbs, title and tabs. Also sets the document's title, which includes the domain. */
import { type PageName, pageOf } from '#libs/base/terms/dashboard-pages';
import './page-head.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { domainIn } from '../data/domains.ts';
import { firstPageOf } from '../data/first-page.ts';
import type { LiveState } from '../data/query.ts';
import { homeAddress, tabsOf } from '../data/router.ts';
import { maySee, maySeeActs } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, escapeInvisible } from '../format.ts';
import { FailingWebhooks, useFailingWebhooks } from './failing-webhooks.tsx';
import { isolated } from './isolated.tsx';
import { LiveBadge } from './live-badge.tsx';

interface PageLink {
  name: string;
  address: string;
}

interface Props {
  /** the heading; on a domain's pages, the domain's name if it differs from the known one */
  title?: string;
  note: ComponentChildren;
  /** whether the page updates itself */
  live?: LiveState | null | undefined;
  /** beside the title: a state or actions */
  children?: ComponentChildren;
  /** on a domain's pages */
  domain?: OfDomain;
  /** the parent, on a page below one of the organization's pages */
  under?: PageLink;
  /** prefix of the document's title */
  before?: string;
  /** on the organization's pages */
  tabs?: PageName;
}

interface OfDomain {
  domainId: string;
  page: PageName;
  /** a page name that differs between domains */
  name?: string;
}

let isFirstPage = true;

export function PageHead({ title: given = '', note, live, children, domain, under, before = '', tabs }: Props) {
  const { organization } = useSignedIn();
  const title = domain ? (domain.name ?? pageOf(domain.page).name) : given;
  const domainName = domain && (given || domainIn(organization, domain.domainId).name);
  const heading = useRef<HTMLHeadingElement>(null);
  const page = domain?.page;
  const whole = domainName === undefined ? before + title : `${title} of ${domainName}`;
  useEffect(() => {
    document.title = `${escapeInvisible(whole)} · Assent`;
  }, [whole]);
  // after navigation the focus moves to the heading, so that screen readers announce it as on a full load. It stays where
  // it is when only the name of the same page changes, for example while somebody types
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, [page, domain?.domainId]);
  return (
    <div class="stack gap-4 page-head">
      {under && <Crumbs way={[under]} here={title} />}
      {domain && domainName !== undefined && (
        <Crumbs way={[{ name: domainName, address: firstPageOf(domain.domainId, organization) }]} here={title} />
      )}
      <div class="cluster page-title">
        <h1 class="anywhere" ref={heading} tabIndex={-1}>
          {isolated(title)}
        </h1>
        {domain && domainIn(organization, domain.domainId).archivedAt && <span class="tag">Archived</span>}
        {children}
      </div>
      <p class="muted cluster page-note">
        <span>{note}</span>
        {live !== undefined && <LiveBadge state={live} />}
      </p>
      {domain && <Tabs label="Pages of this domain" of={domain.page} tabs={tabsOf(domain.domainId)} />}
      {/* a single tab is not shown */}
      {tabs && maySeeActs(organization) && <OrganizationTabs of={tabs} />}
    </div>
  );
}

/** The path from the overview to this page. */
const Crumbs = ({ way, here }: { way: PageLink[]; here: string }) => (
  <nav class="crumbs" aria-label="Breadcrumbs">
    <ol class="cluster hint">
      {[{ name: 'Overview', address: homeAddress }, ...way].map(({ name, address }) => (
        <li key={address}>
          <a href={address}>{isolated(name)}</a>
        </li>
      ))}
      <li aria-current="page">{isolated(here)}</li>
    </ol>
  </nav>
);

/** The tabs of the organization, with warnings on the overview. */
function OrganizationTabs({ of }: { of: PageName }) {
  const failing = useFailingWebhooks();
  return (
    <>
      <Tabs label="Pages of the organization" of={of} tabs={tabsOf()} failing={failing.length} />
      {of === 'home' && <FailingWebhooks failing={failing} />}
    </>
  );
}

interface TabsProps {
  label: string;
  of: PageName;
  tabs: ReturnType<typeof tabsOf>;
  /** webhooks */
  failing?: number;
}

/** The tabs that the token may open. */
function Tabs({ label, of, tabs, failing = 0 }: TabsProps) {
  const { organization } = useSignedIn();
  const { under } = pageOf(of);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs
        .filter(({ page }) => maySee(page, organization))
        .map(({ page, name, address }) => (
          <a key={name} href={address} aria-current={page === of || page === under ? 'page' : undefined}>
            {name}
            {page === 'webhooks' && failing > 0 && <span class="tag">{count(failing)} failing</span>}
          </a>
        ))}
    </nav>
  );
}
