/** The cookies of a service, as people write them. */
import { isCookieName } from '#libs/widget/category-rules';
import type { Cookie } from '#libs/widget/config';

/** For people: a cookie a line, its name, then how long it is kept, then what else is known of it. */
export const cookieLines = (cookies: Cookie[] = []): string =>
  cookies
    .map(({ name, duration, domain, path }) => [name, duration, domain, path].join('; ').replace(/[; ]+$/, ''))
    .join('\n');

/** `refused`: lines whose name is none. */
export function readCookieLines(lines: string): { cookies: Cookie[]; refused: string[] } {
  const refused: string[] = [];
  const cookies = lines.split('\n').flatMap((line) => {
    const [first, duration, domain, path] = line.split(';').map((each) => each.trim());
    if (!first) return [];
    if (isCookieName(first))
      return [{ name: first, ...(domain && { domain }), ...(path && { path }), ...(duration && { duration }) }];
    refused.push(first);
    return [];
  });
  return { cookies, refused };
}
