/** Deletes the cookies of categories that are not allowed any longer, as far as the page can reach them. */
import type { Category, Cookie } from '#libs/widget/config';
import { page } from './page.ts';

/** Those that a category which is still allowed names too stay, and the widget's own. */
export function forgetCookies(lost: Category[], all: Category[], isAllowed: (category: string) => boolean): void {
  const gone = cookiesOf(lost);
  const needed = cookiesOf(all.filter(({ id }) => isAllowed(id)));
  for (const name of names()) {
    const matching = gone.filter((cookie) => matches(cookie, name));
    const isNeeded = name.startsWith('assent_') || needed.some((cookie) => matches(cookie, name));
    if (matching.length > 0 && !isNeeded) forget(name, matching);
  }
}

const cookiesOf = (categories: Category[]): Cookie[] =>
  categories.flatMap(({ services = [] }) => services.flatMap(({ cookies = [] }) => cookies));

const names = (): string[] => page.cookie.split(/; ?/).map((entry) => entry.split('=')[0] ?? '');

const matches = ({ name: pattern }: Cookie, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/** A cookie goes only by the domain and path that it was set with, which nothing tells: all that it can have are tried. */
function forget(name: string, matching: Cookie[]): void {
  const { hostname, pathname, protocol } = location;
  const labels = hostname.split('.');
  const domains = [
    '',
    ...matching.map(({ domain = '' }) => domain),
    ...labels.map((_, at) => labels.slice(at).join('.')),
  ];
  const steps = pathname.split('/').map((_, at, all) => all.slice(0, at + 1).join('/'));
  const paths = ['/', ...matching.map(({ path = '/' }) => path), ...steps, ...steps.map((step) => `${step}/`)];
  const ends = protocol === 'https:' ? [';secure', ';secure;partitioned'] : [''];
  for (const domain of new Set(domains))
    for (const path of new Set(paths))
      for (const end of ends) {
        if (!names().includes(name)) return;
        page.cookie = `${name}=;max-age=0;path=${path}${domain && `;domain=${domain}`}${end}`;
      }
}
