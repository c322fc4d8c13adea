/**
 * The pages of the dashboard. Its routes, menus and breadcrumbs, and the paths that the API serves it at, are made from
 * this list. apps/dashboard/app.tsx has their content.
 */
import type { Scope } from './terms.ts';

interface DashboardPage {
  path: string;
  /** in menus and breadcrumbs */
  name: string;
  /** in the menu of its domain or of the organization */
  hasTab?: true;
  /** the page whose tab is marked instead */
  under?: string;
  /** any of them opens it; absent: every token does */
  scopes?: readonly Scope[];
}

/** for statistics and records */
const scopes = ['read'] as const;

/** Each menu has this order. */
export const dashboardPages = {
  home: { path: '/', name: 'Overview', hasTab: true },
  domains: { path: '/domains', name: 'Domains', hasTab: true, scopes: ['manage'] },
  'new-domain': { path: '/new-domain', name: 'New domain', scopes: ['manage'] },
  webhooks: { path: '/webhooks', name: 'Webhooks', hasTab: true, scopes: ['manage'] },
  webhook: { path: '/webhooks/:which', name: 'Webhooks', scopes: ['manage'] },
  people: { path: '/people', name: 'People', hasTab: true, scopes: ['manage'] },
  activity: { path: '/activity', name: 'Activity', hasTab: true, scopes: ['manage', 'privacy'] },
  erasures: { path: '/erasures', name: 'Erasures', hasTab: true, scopes: ['privacy'] },
  erasure: { path: '/erasures/:erasureId', name: 'Erasures', scopes: ['privacy'] },
  account: { path: '/account', name: 'My account' },
  domain: { path: '/domains/:domainId', name: 'Statistics', hasTab: true, scopes },
  groups: { path: '/domains/:domainId/by/:by', name: 'Groups', under: 'domain', scopes },
  experiments: { path: '/domains/:domainId/experiments', name: 'Experiments', under: 'domain', scopes },
  log: { path: '/domains/:domainId/log', name: 'Log', hasTab: true, scopes },
  notices: { path: '/domains/:domainId/notices', name: 'Notices', hasTab: true, scopes },
  visitor: { path: '/domains/:domainId/visitor', name: 'Visitor', hasTab: true, scopes: ['privacy'] },
  widget: {
    path: '/domains/:domainId/widget',
    name: 'Widget',
    hasTab: true,
    scopes: ['read', 'publish', 'manage'],
  },
  checks: {
    path: '/domains/:domainId/checks',
    name: 'Site checks',
    under: 'widget',
    scopes: ['read', 'publish', 'manage'],
  },
  settings: { path: '/domains/:domainId/settings', name: 'Settings', hasTab: true, scopes: ['manage'] },
} as const satisfies Record<string, DashboardPage>;

export type PageName = keyof typeof dashboardPages;
export const pageNames = Object.keys(dashboardPages) as PageName[];
export const pageOf = (name: PageName): DashboardPage => dashboardPages[name];

/** For people who are not signed in: the identity provider redirects here, and so do links. */
export const signInPath = '/sign-in';
export const setupPath = '/setup';
export const invitationPath = '/invitation';

/** Patterns of the `:name`s in paths. */
export const pageParams: Record<string, RegExp> = {
  domainId: /^[A-Za-z0-9_-]{1,64}$/,
  erasureId: /^ers_[A-Za-z0-9]{1,64}$/,
  // an id, or the page that creates one
  which: /^(?:new|wh_[A-Za-z0-9]{1,64})$/,
  by: /^[A-Za-z]+$/,
};
