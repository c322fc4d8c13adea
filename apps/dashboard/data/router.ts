/** Addresses and their pages. The address holds the whole state of a view, so that a link reproduces it. */
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

/** `visitorId`: from the fragment */
export type RouteTo<Name extends PageName> = {
  page: Name;
  query: URLSearchParams;
  visitorId: string | null;
} & ParamsOf<(typeof dashboardPages)[Name]['path']>;
export type Route = { [Name in PageName]: RouteTo<Name> }[PageName] | { page: 'unknown' };

const isDimension = (text: string): text is Dimension => Object.hasOwn(dimensionNames, text);

type Query = Record<string, string | number | undefined>;

/** The pages with the patterns of their paths. */
const matches = pageNames.map((name): [PageName, RegExp] => [
  name,
  new RegExp(`^${pageOf(name).path.replace(/:(\w+)/g, (_, param: string) => `(?<${param}>${sourceOf(param)})`)}$`),
]);
function sourceOf(param: string): string {
  return pageParams[param]?.source.slice(1, -1) ?? '';
}

/** A visitor's id is in the fragment: browsers never send it, so no server logs it. */
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

/** `params`: values for the `:name`s of the path. */
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
/** `record`: id of the open record. With a visitor's id, only that visitor's records are listed. */
export const logAddress = ofDomain('log');
/** `day`: shows that day's notices; `notice`, `with`: hashes of the open notice and of the one to compare it with. */
export const noticesAddress = ofDomain('notices');
/** `experiment`: its name. */
export const experimentsAddress = ofDomain('experiments');
export const groupsAddress = (domainId: string, by: Dimension, query: Query = {}): string =>
  withQuery(addressOf('groups', { domainId, by }), query);
/** Without an id the page asks for one. `in`: `all` for all domains; `record`: the record that was searched for. */
export const visitorAddress = (domainId: string, visitorId?: string, query: Query = {}): string =>
  ofDomain('visitor')(domainId, query, visitorId);
export const settingsAddress = ofDomain('settings');
export const widgetAddress = ofDomain('widget');
export const peopleAddress = addressOf('people');
export const accountAddress = addressOf('account');
/** `check`: its id; default: the newest. */
export const checksAddress = ofDomain('checks');
export const domainsAddress = addressOf('domains');
export const newDomainAddress = addressOf('new-domain');
/** The acts of the organization, or those about one visitor. */
export const activityAddress = (query: Query = {}, visitorId?: string): string =>
  withQuery(addressOf('activity'), query) + fragmentOf(visitorId);
export const erasuresAddress = addressOf('erasures');
export const erasureAddress = (erasureId: string): string => addressOf('erasure', { erasureId });
export const webhooksAddress = addressOf('webhooks');
/** `new`: the form for a new one. */
export const webhookAddress = (which: string): string => addressOf('webhook', { which });

/** The pages that have a tab, of a domain or of the organization, with their addresses. */
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
  // a layout effect: a change of the address before a later effect would be missed
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
  // registered before the views' listeners, so that `cameByHistory` is current when they run
  addEventListener('popstate', () => {
    isByHistory = true;
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.origin !== location.origin) return;
    if (routeOf(link).page === 'unknown') return;
    event.preventDefault();
    // any other fragment is a place on this page and does not change the view
    if (link.hash && !visitorFragment.test(link.hash)) return document.getElementById(link.hash.slice(1))?.focus();
    navigate(link.pathname + link.search + link.hash);
  });
}
