/** Deletes the cookies of categories that are no longer allowed, as far as scripts can. */
import type { Category, Cookie } from '#libs/widget/config';
import { concat, includes, map, slice, some } from '#libs/widget/tamper-proof';
import { page } from './page.ts';

/** Keeps cookies that begin with `assent_`, and those that a still-allowed category also lists. */
export function forgetCookies(lost: Category[], all: Category[], isAllowed: (category: string) => boolean): void {
  const gone = cookiesOf(lost);
  const needed = cookiesOf(map(all, (each) => (isAllowed(each.id) ? each : undefined)));
  map(cookieNames(), (name) => {
    const matching = map(gone, (cookie) => (matches(cookie, name) ? cookie : undefined));
    const isNeeded = slice(name, 0, 7) === 'assent_' || some(needed, (cookie) => matches(cookie, name));
    if (matching[0] && !isNeeded) forget(name, matching);
  });
}

function cookiesOf(categories: Category[]): Cookie[] {
  let found: Cookie[] = [];
  map(categories, ({ services = [] }) => {
    map(services, ({ cookies = [] }) => {
      found = concat(found, cookies);
    });
  });
  return found;
}

/** Scripts cannot see `HttpOnly` cookies. */
export const cookieNames = (): string[] => map(pieces(page.cookie, '; '), (entry) => pieces(entry, '=')[0]);

export function matches({ name: pattern }: Cookie, name: string): boolean {
  const end = pattern.length - 1;
  return pattern[end] === '*' ? slice(name, 0, end) === slice(pattern, 0, end) : name === pattern;
}

/** A cookie is deleted by the domain and path that it was set with. Scripts cannot read these, so all are tried. */
export function forget(name: string, matching: Cookie[]): void {
  const { hostname, pathname, protocol } = location;
  const domains = concat(
    [''],
    map(matching, (each) => each.domain),
    endings(hostname, '.'),
  );
  const steps = beginnings(pathname, '/');
  const folders = map(steps, (step) => `${step}/`);
  const paths = concat(
    ['/'],
    map(matching, (each) => each.path),
    steps,
    folders,
  );
  const ends = protocol === 'https:' ? [';secure', ';secure;partitioned'] : [''];
  map(domains, (domain) => {
    map(paths, (path) => {
      map(ends, (end) => {
        if (includes(cookieNames(), name))
          page.cookie = `${name}=;max-age=0;path=${path}${domain && `;domain=${domain}`}${end}`;
      });
    });
  });
}

/** `a; b` → `a`, `b` */
function pieces(text: string, mark: string): string[] {
  const found: string[] = [];
  let piece = '';
  for (let at = 0; at < text.length; at += 1) {
    if (slice(text, at, at + mark.length) !== mark) piece += text[at];
    else {
      found[found.length] = piece;
      piece = '';
      at += mark.length - 1;
    }
  }
  return concat(found, [piece]);
}

/** `www.example.com` → `www.example.com`, `example.com`, `com` */
function endings(text: string, mark: string): string[] {
  const found = [text];
  for (let at = 0; at < text.length; at += 1) if (text[at] === mark) found[found.length] = slice(text, at + 1);
  return found;
}

/** `/a/b` → ``, `/a`, `/a/b` */
function beginnings(text: string, mark: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at += 1) if (text[at] === mark) found[found.length] = slice(text, 0, at);
  return concat(found, [text]);
}
