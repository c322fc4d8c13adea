/** The head of a page: breadcrumbs, title and tabs. Also sets the document's title. */
import './page-head.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Organization } from '#libs/contract/statistics';
import { domainIn } from '../data/domains.ts';
import { domainAddress, logAddress, settingsAddress, visitorAddress, widgetAddress } from '../data/router.ts';
import { mayManage, mayReadVisitors } from '../data/scopes.ts';
import { escapeInvisible } from '../format.ts';
import { type Crumb, Crumbs } from './crumbs.tsx';
import { type Tab, Tabs } from './tabs.tsx';

interface Props {
  title: string;
  note: ComponentChildren;
  children?: ComponentChildren;
  /** on the pages of a domain */
  domain?: OfDomain;
  /** on the others: the way here from the overview */
  way?: Crumb[];
  /** what the document's title has before the page's */
  before?: string;
  tabs?: ComponentChildren;
}

interface OfDomain {
  domainId: string;
  page: 'domain' | 'groups' | 'experiments' | 'log' | 'visitor' | 'widget' | 'settings';
  /** of a page whose name is not the same for all domains */
  crumb?: string;
  organization: Organization;
}

let isFirstPage = true;

const titles = {
  domain: '',
  groups: 'Groups of ',
  experiments: 'Experiments of ',
  log: 'Log of ',
  visitor: 'Visitor of ',
  widget: 'Widget of ',
  settings: 'Settings of ',
};
const crumbs = {
  groups: 'Groups',
  experiments: 'Experiments',
  log: 'Log',
  visitor: 'Visitor',
  widget: 'Widget',
  settings: 'Settings',
};

export function PageHead({ title, note, children, domain, way, before = '', tabs }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const page = domain?.page;
  const prefix = page === undefined ? before : titles[page];
  useEffect(() => {
    document.title = `${prefix}${escapeInvisible(title)} · Assent`;
  }, [title, prefix]);
  // after navigation the focus moves to the heading, so that screen readers announce it as on a full load; a new name of
  // the same page leaves it to whoever is typing
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, [page, domain?.domainId]);
  const crumbWay = domain ? wayTo(title, domain) : way;
  return (
    <div class="page-head">
      {crumbWay && <Crumbs way={crumbWay} />}
      <div class="page-title">
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{escapeInvisible(title)}</bdi>
        </h1>
        {domain && domainIn(domain.organization, domain.domainId).archivedAt && <span class="tag">Archived</span>}
        {children}
      </div>
      <p class="muted">{note}</p>
      {domain ? <Tabs label="Pages of this domain" tabs={tabsOf(domain)} /> : tabs}
    </div>
  );
}

const wayTo = (name: string, { domainId, page, crumb }: OfDomain): Crumb[] =>
  page === 'domain'
    ? [{ name, address: null }]
    : [
        { name, address: domainAddress(domainId) },
        { name: crumb ?? crumbs[page], address: null },
      ];

const tabsOf = ({ domainId, page, organization }: OfDomain): Tab[] => [
  {
    name: 'Statistics',
    address: domainAddress(domainId),
    isCurrent: page === 'domain' || page === 'groups' || page === 'experiments',
  },
  { name: 'Log', address: logAddress(domainId), isCurrent: page === 'log' },
  ...(mayReadVisitors(organization)
    ? [{ name: 'Visitor', address: visitorAddress(domainId), isCurrent: page === 'visitor' }]
    : []),
  { name: 'Widget', address: widgetAddress(domainId), isCurrent: page === 'widget' },
  ...(mayManage(organization)
    ? [{ name: 'Settings', address: settingsAddress(domainId), isCurrent: page === 'settings' }]
    : []),
];
