/** The cookies of a service as text. */
import { isCookieName } from '#libs/widget/category-rules';
import type { Cookie } from '#libs/widget/config';

/** One cookie per line: name, lifetime, description. */
export const cookieLines = (cookies: Cookie[] = []): string =>
  cookies
    .map(({ name, duration, domain, path }) => [name, duration, domain, path].join('; ').replace(/[; ]+$/, ''))
    .join('\n');

/** `refused`: lines without a valid name. */
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
