/** The head of a page: breadcrumbs, title and tabs. Also sets the document's title. */
import type { Organization } from '#libs/stats/contract';
import './page-head.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { domainIn } from '../data/domains.ts';
import { firstPageOf } from '../data/first-page.ts';
import {
  activityAddress,
  domainAddress,
  domainsAddress,
  erasuresAddress,
  homeAddress,
  logAddress,
  settingsAddress,
  visitorAddress,
  webhooksAddress,
  widgetAddress,
} from '../data/router.ts';
import { mayManage, mayRead, mayReadVisitors, maySeeActs } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { escapeInvisible } from '../format.ts';
import { isolated } from './isolated.tsx';

interface PageLink {
  name: string;
  address: string;
}

export type OrganizationPage = 'home' | 'domains' | 'webhooks' | 'activity' | 'erasures';

interface Props {
  /** the domain's name, if absent on one of its pages */
  title?: string;
  note: ComponentChildren;
  children?: ComponentChildren;
  /** on the pages of a domain */
  domain?: OfDomain;
  /** on a page below one of the organization: that one */
  under?: PageLink;
  /** what the document's title has before the page's */
  before?: string;
  /** on a page of the organization */
  tabs?: OrganizationPage;
}

interface OfDomain {
  domainId: string;
  page: 'domain' | keyof typeof crumbs;
  /** of a page whose name is not the same for all domains */
  crumb?: string;
}

let isFirstPage = true;

const crumbs = {
  groups: 'Groups',
  experiments: 'Experiments',
  log: 'Log',
  visitor: 'Visitor',
  widget: 'Widget',
  settings: 'Settings',
};

export function PageHead({ title: given, note, children, domain, under, before = '', tabs }: Props) {
  const { organization } = useSignedIn();
  const title = given ?? (domain ? domainIn(organization, domain.domainId).name : '');
  const heading = useRef<HTMLHeadingElement>(null);
  const page = domain?.page;
  const prefix = page === undefined ? before : page === 'domain' ? '' : `${crumbs[page]} of `;
  useEffect(() => {
    document.title = `${prefix}${escapeInvisible(title)} · Assent`;
  }, [title, prefix]);
  // after navigation the focus moves to the heading, so that screen readers announce it as on a full load; a new name of
  // the same page leaves it to whoever is typing
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, [page, domain?.domainId]);
  return (
    <div class="stack gap-4 page-head">
      {under && <Crumbs way={[under]} here={title} />}
      {domain?.page === 'domain' && <Crumbs way={[]} here={title} />}
      {domain && domain.page !== 'domain' && (
        <Crumbs
          way={[{ name: title, address: firstPageOf(domain.domainId, organization) }]}
          here={domain.crumb ?? crumbs[domain.page]}
        />
      )}
      <div class="cluster page-title">
        <h1 class="anywhere" ref={heading} tabIndex={-1}>
          {isolated(title)}
        </h1>
        {domain && domainIn(organization, domain.domainId).archivedAt && <span class="tag">Archived</span>}
        {children}
      </div>
      <p class="muted">{note}</p>
      {domain && <Tabs label="Pages of this domain" tabs={tabsOf(domain, organization)} />}
      {/* with the overview alone there is nothing to choose from */}
      {tabs && maySeeActs(organization) && (
        <Tabs
          label="Pages of the organization"
          tabs={organizationTabs
            .filter(({ isFor }) => isFor(organization))
            .map((tab) => ({ ...tab, isCurrent: tab.page === tabs }))}
        />
      )}
    </div>
  );
}

/** The way to this page from the overview. */
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

interface Tab extends PageLink {
  isCurrent: boolean;
}

const Tabs = ({ label, tabs }: { label: string; tabs: Tab[] }) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ name, address, isCurrent }) => (
      <a key={name} href={address} aria-current={isCurrent ? 'page' : undefined}>
        {name}
      </a>
    ))}
  </nav>
);

const organizationTabs: (PageLink & { page: OrganizationPage; isFor(organization: Organization): boolean })[] = [
  { page: 'home', name: 'Overview', address: homeAddress, isFor: () => true },
  { page: 'domains', name: 'Domains', address: domainsAddress, isFor: mayManage },
  { page: 'webhooks', name: 'Webhooks', address: webhooksAddress, isFor: mayManage },
  { page: 'activity', name: 'Activity', address: activityAddress(), isFor: maySeeActs },
  { page: 'erasures', name: 'Erasures', address: erasuresAddress, isFor: mayReadVisitors },
];

function tabsOf({ domainId, page }: OfDomain, organization: Organization): Tab[] {
  const tab = (name: string, address: string, ...pages: OfDomain['page'][]): Tab => ({
    name,
    address,
    isCurrent: pages.includes(page),
  });
  return [
    ...(mayRead(organization)
      ? [
          tab('Statistics', domainAddress(domainId), 'domain', 'groups', 'experiments'),
          tab('Log', logAddress(domainId), 'log'),
        ]
      : []),
    ...(mayReadVisitors(organization) ? [tab('Visitor', visitorAddress(domainId), 'visitor')] : []),
    tab('Widget', widgetAddress(domainId), 'widget'),
    ...(mayManage(organization) ? [tab('Settings', settingsAddress(domainId), 'settings')] : []),
  ];
}
