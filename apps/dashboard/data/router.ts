/** Addresses and the pages behind them. Everything that a view shows is in its address, so that a link reproduces it. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Dimension } from '#libs/base/terms/terms';
import { base } from './base.ts';
import { dimensionNames } from './dimension-names.ts';

export type Route =
  | { page: 'home' }
  | { page: 'domain'; domainId: string; query: URLSearchParams }
  | { page: 'log'; domainId: string; query: URLSearchParams }
  /** decisions by country, banner version and so on */
  | { page: 'groups'; domainId: string; by: Dimension; query: URLSearchParams }
  | { page: 'experiments'; domainId: string; query: URLSearchParams }
  | { page: 'visitor'; domainId: string; visitorId: string | null }
  /** `which`: a webhook's id, `new`, or null for all */
  | { page: 'webhooks'; which: string | null }
  | { page: 'domains' | 'new-domain' }
  /** `visitorId`: only acts about this visitor */
  | { page: 'activity'; query: URLSearchParams; visitorId: string | null }
  /** `erasureId`: null for all */
  | { page: 'erasures'; erasureId: string | null }
  /** of a domain */
  | { page: 'settings'; domainId: string }
  /** where its banner is set up */
  | { page: 'widget'; domainId: string }
  | { page: 'unknown' };

/** The pages of what an organization manages. */
export type SettingsRoute = Extract<Route, { page: 'domains' | 'new-domain' | 'activity' | 'settings' }>;

const isDimension = (text: string): text is Dimension => Object.hasOwn(dimensionNames, text);

type Query = Record<string, string | number | undefined>;

const domainPath =
  /^\/domains\/([A-Za-z0-9_-]{1,64})(\/log|\/visitor|\/settings|\/widget|\/experiments|\/by\/[A-Za-z]+)?$/;
const erasurePath = /^\/erasures(?:\/(ers_[A-Za-z0-9]{1,64}))?$/;
const webhookPath = /^\/webhooks(?:\/(new|wh_[A-Za-z0-9]{1,64}))?$/;
/** A fragment is never sent to a server, so that no log holds a visitor's id. */
const visitorFragment = /^#visitor=(.+)/;

type Address = Record<'pathname' | 'search' | 'hash', string>;

function routeOf({ pathname: whole, search, hash }: Address): Route {
  if (!whole.startsWith(`${base}/`)) return { page: 'unknown' };
  const pathname = whole.slice(base.length);
  if (pathname === '/' || pathname === '/sign-in') return { page: 'home' };
  if (whole === domainsAddress) return { page: 'domains' };
  if (whole === newDomainAddress) return { page: 'new-domain' };
  if (whole === activityAddress())
    return { page: 'activity', query: new URLSearchParams(search), visitorId: visitorIn(hash) };
  const erasure = erasurePath.exec(pathname);
  if (erasure) return { page: 'erasures', erasureId: erasure[1] ?? null };
  const webhook = webhookPath.exec(pathname);
  if (webhook) return { page: 'webhooks', which: webhook[1] ?? null };
  const match = domainPath.exec(pathname);
  if (!match?.[1]) return { page: 'unknown' };
  if (match[2] === '/visitor') return { page: 'visitor', domainId: match[1], visitorId: visitorIn(hash) };
  if (match[2] === '/settings') return { page: 'settings', domainId: match[1] };
  if (match[2] === '/widget') return { page: 'widget', domainId: match[1] };
  const ofDomain = { domainId: match[1], query: new URLSearchParams(search) };
  if (match[2] === '/experiments') return { page: 'experiments', ...ofDomain };
  if (!match[2]?.startsWith('/by/')) return { page: match[2] ? 'log' : 'domain', ...ofDomain };
  const by = match[2].slice('/by/'.length);
  return isDimension(by) ? { page: 'groups', by, ...ofDomain } : { page: 'unknown' };
}

function visitorIn(hash: string): string | null {
  try {
    return decodeURIComponent(visitorFragment.exec(hash)?.[1] ?? '') || null;
  } catch {
    // not percent-encoded
    return null;
  }
}

const withQuery = (path: string, query: Query): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return pairs.length > 0 ? `${path}?${new URLSearchParams(pairs)}` : path;
};

/** Where the identity provider sends people back to. */
export const signInAddress = `${base}/sign-in`;
export const homeAddress = `${base}/`;
const ofDomain =
  (rest: string) =>
  (domainId: string, query: Query = {}): string =>
    withQuery(`${base}/domains/${domainId}${rest}`, query);
export const domainAddress = ofDomain('');
export const logAddress = ofDomain('/log');
/** `experiment`: its name. */
export const experimentsAddress = ofDomain('/experiments');
export const groupsAddress = (domainId: string, by: Dimension, query: Query = {}): string =>
  ofDomain(`/by/${by}`)(domainId, query);
/** Without an id it asks for one. */
export const visitorAddress = (domainId: string, visitorId?: string): string =>
  `${base}/domains/${domainId}/visitor${fragmentOf(visitorId)}`;
const fragmentOf = (visitorId?: string): string =>
  visitorId === undefined ? '' : `#visitor=${encodeURIComponent(visitorId)}`;

export const domainsAddress = `${base}/domains`;
export const newDomainAddress = `${base}/new-domain`;
export const settingsAddress = (domainId: string): string => `${domainsAddress}/${domainId}/settings`;
export const widgetAddress = (domainId: string): string => `${domainsAddress}/${domainId}/widget`;
/** Who did what; with an id, about this visitor. */
export const activityAddress = (query: Query = {}, visitorId?: string): string =>
  withQuery(`${base}/activity`, query) + fragmentOf(visitorId);
export const erasuresAddress = `${base}/erasures`;
export const erasureAddress = (erasureId: string): string => `${erasuresAddress}/${erasureId}`;

export const webhooksAddress = `${base}/webhooks`;
/** `new`: where one is made. */
export const webhookAddress = (which: string): string => `${webhooksAddress}/${which}`;

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
