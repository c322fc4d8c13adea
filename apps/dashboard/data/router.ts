/** Addresses and the pages they name. Everything that a view shows is in its address, so that a link reproduces it. */
import { useEffect, useState } from 'preact/hooks';

export type Route =
  | { page: 'home' }
  | { page: 'domain'; domainId: string; query: URLSearchParams }
  | { page: 'log'; domainId: string; query: URLSearchParams }
  | { page: 'unknown' };

type Given = Record<string, string | number | undefined>;

const domainPath = /^\/domains\/([A-Za-z0-9_-]{1,64})(\/log)?$/;

export function routeOf({ pathname, search }: { pathname: string; search: string }): Route {
  if (pathname === '/') return { page: 'home' };
  const match = domainPath.exec(pathname);
  if (!match?.[1]) return { page: 'unknown' };
  return { page: match[2] ? 'log' : 'domain', domainId: match[1], query: new URLSearchParams(search) };
}

const withQuery = (path: string, given: Given): string => {
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return pairs.length > 0 ? `${path}?${new URLSearchParams(pairs)}` : path;
};

export const homeAddress = '/';
export const domainAddress = (domainId: string, query: Given = {}): string => withQuery(`/domains/${domainId}`, query);
export const logAddress = (domainId: string, query: Given = {}): string => withQuery(`/domains/${domainId}/log`, query);

const moved = new EventTarget();
let isBack = false;

/** Whether the way here was the browser's back or forward, which returns to where one was. */
export const cameBack = (): boolean => isBack;

export function go(address: string, { replace = false } = {}): void {
  const before = location.pathname;
  if (!replace) isBack = false;
  if (replace) history.replaceState(history.state, '', address);
  else history.pushState(null, '', address);
  if (location.pathname !== before) scrollTo(0, 0);
  moved.dispatchEvent(new Event('move'));
}

/** The route of the address bar, now and whenever it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location));
  useEffect(() => {
    const update = () => setRoute(routeOf(location));
    moved.addEventListener('move', update);
    addEventListener('popstate', update);
    return () => {
      moved.removeEventListener('move', update);
      removeEventListener('popstate', update);
    };
  }, []);
  return route;
}

/** Plain links to these pages change the view; all others, and those for a new tab, are the browser's. */
export function followLinks(): void {
  // before any view hears of it
  addEventListener('popstate', () => {
    isBack = true;
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.origin !== location.origin || link.hash)
      return;
    if (routeOf(link).page === 'unknown') return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
