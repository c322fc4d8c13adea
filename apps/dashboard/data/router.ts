/** Addresses and the pages behind them. Everything that a view shows is in its address, so that a link reproduces it. */
import { useLayoutEffect, useState } from 'preact/hooks';
import {
  type dashboardPages,
  invitationPath,
  type PageName,
  pageNames,
  pageOf,
  pageParams,
  setupPath,
  signInPath,
} from '#libs/base/terms/dashboard-pages';
import type { Dimension } from '#libs/base/terms/terms';
import { base, hasAccounts } from './base.ts';
import { dimensionNames } from './dimension-names.ts';

/** The `:name`s of a path. */
type ParamsOf<Path> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? ParamOf<Name> & ParamsOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? ParamOf<Name>
    : unknown;
type ParamOf<Name extends string> = Name extends 'by' ? { by: Dimension } : Record<Name, string>;

/** `visitorId`: of the fragment */
export type RouteTo<Name extends PageName> = {
  page: Name;
  query: URLSearchParams;
  visitorId: string | null;
} & ParamsOf<(typeof dashboardPages)[Name]['path']>;
export type Route = { [Name in PageName]: RouteTo<Name> }[PageName] | { page: 'unknown' };

const isDimension = (text: string): text is Dimension => Object.hasOwn(dimensionNames, text);

type Query = Record<string, string | number | undefined>;

/** Each page with what its paths match. */
const matches = pageNames.map((name): [PageName, RegExp] => [
  name,
  new RegExp(`^${pageOf(name).path.replace(/:(\w+)/g, (_, param: string) => `(?<${param}>${sourceOf(param)})`)}$`),
]);
function sourceOf(param: string): string {
  return pageParams[param]?.source.slice(1, -1) ?? '';
}

/** A fragment is never sent to a server, so that no log holds a visitor's id. */
const visitorFragment = /^#visitor=(.+)/;

type Address = Record<'pathname' | 'search' | 'hash', string>;

function routeOf({ pathname: whole, search, hash }: Address): Route {
  const pathname = whole === signInAddress ? '/' : whole.startsWith(`${base}/`) ? whole.slice(base.length) : '';
  for (const [page, pattern] of matches) {
    const found = pattern.exec(pathname);
    const by = found?.groups?.by;
    if (found && (by === undefined || isDimension(by)))
      return { page, ...found.groups, query: new URLSearchParams(search), visitorId: visitorIn(hash) } as Route;
  }
  return { page: 'unknown' };
}

function visitorIn(hash: string): string | null {
  try {
    return decodeURIComponent(visitorFragment.exec(hash)?.[1] ?? '') || null;
  } catch {
    // not percent-encoded
    return null;
  }
}

export const withQuery = (path: string, query: Query): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return pairs.length > 0 ? `${path}?${new URLSearchParams(pairs)}` : path;
};

/** `params`: for the `:name`s of its path. */
const addressOf = (page: PageName, params: Record<string, string> = {}): string =>
  base + pageOf(page).path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '');
const ofDomain =
  (page: PageName) =>
  (domainId: string, query: Query = {}, visitorId?: string): string =>
    withQuery(addressOf(page, { domainId }), query) + fragmentOf(visitorId);
const fragmentOf = (visitorId?: string): string =>
  visitorId === undefined ? '' : `#visitor=${encodeURIComponent(visitorId)}`;

export const signInAddress = base + signInPath;
export const setupAddress = base + setupPath;
export const invitationAddress = base + invitationPath;
export const homeAddress = addressOf('home');
export const domainAddress = ofDomain('domain');
/** `record`: the id of the one that is open. With a visitor's id, only their records. */
export const logAddress = ofDomain('log');
/** `day`: as visitors saw them then; `notice`, `with`: hashes of the one that is open, and of the one to compare it with. */
export const noticesAddress = ofDomain('notices');
/** `experiment`: its name. */
export const experimentsAddress = ofDomain('experiments');
export const groupsAddress = (domainId: string, by: Dimension, query: Query = {}): string =>
  withQuery(addressOf('groups', { domainId, by }), query);
/** Without an id it asks for one. `in`: `all` for all domains; `record`: the id of theirs that was looked for. */
export const visitorAddress = (domainId: string, visitorId?: string, query: Query = {}): string =>
  ofDomain('visitor')(domainId, query, visitorId);
export const settingsAddress = ofDomain('settings');
export const widgetAddress = ofDomain('widget');
export const peopleAddress = addressOf('people');
export const accountAddress = addressOf('account');
/** `check`: its id; the newest, if absent. */
export const checksAddress = ofDomain('checks');
export const domainsAddress = addressOf('domains');
export const newDomainAddress = addressOf('new-domain');
/** Who did what; with an id, about this visitor. */
export const activityAddress = (query: Query = {}, visitorId?: string): string =>
  withQuery(addressOf('activity'), query) + fragmentOf(visitorId);
export const erasuresAddress = addressOf('erasures');
export const erasureAddress = (erasureId: string): string => addressOf('erasure', { erasureId });
export const webhooksAddress = addressOf('webhooks');
/** `new`: where one is made. */
export const webhookAddress = (which: string): string => addressOf('webhook', { which });

/** The pages of a domain that have a tab, or those of the organization, each with its address. */
export const tabsOf = (domainId?: string) =>
  pageNames.flatMap((page) => {
    const { path, name, hasTab } = pageOf(page);
    if (!hasTab || path.includes(':') !== (domainId !== undefined) || (page === 'people' && !hasAccounts)) return [];
    return [{ page, name, address: addressOf(page, { domainId: domainId ?? '' }) }];
  });

const navigation = new EventTarget();
let isByHistory = false;

/** Whether the latest navigation was the browser's back or forward, which restores the scroll position. */
export const cameByHistory = (): boolean => isByHistory;

export function navigate(address: string, { replace = false } = {}): void {
  const before = location.pathname;
  if (!replace) isByHistory = false;
  if (replace) history.replaceState(history.state, '', address);
  else history.pushState(null, '', address);
  if (location.pathname !== before) scrollTo(0, 0);
  navigation.dispatchEvent(new Event('navigate'));
}

/** The route in the address bar, updated whenever it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location));
  // at once with the first view: what changes the address before a later effect would be missed
  useLayoutEffect(() => {
    const update = () => setRoute(routeOf(location));
    navigation.addEventListener('navigate', update);
    addEventListener('popstate', update);
    return () => {
      navigation.removeEventListener('navigate', update);
      removeEventListener('popstate', update);
    };
  }, []);
  return route;
}

/** A plain click on a link to one of these pages changes the view. The browser handles every other click. */
export function followLinks(): void {
  // registered before any view's listener, so that `cameByHistory` is right when they run
  addEventListener('popstate', () => {
    isByHistory = true;
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.origin !== location.origin) return;
    if (routeOf(link).page === 'unknown') return;
    event.preventDefault();
    // any other fragment is a place on this page, whose own fragment stays
    if (link.hash && !visitorFragment.test(link.hash)) return document.getElementById(link.hash.slice(1))?.focus();
    navigate(link.pathname + link.search + link.hash);
  });
}
