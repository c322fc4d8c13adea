/** What a category is made of, as the widget takes it. */
import type { Cookie, Service } from '#libs/widget/config';
import { isObject, short } from './values.ts';

/** Undefined where it is none: `*` alone would be every cookie of the site. */
const cookieName = (value: unknown): string | undefined => {
  const name = short(value)?.trim();
  return name && name !== '*' && /^[^\s;,=]+$/.test(name) ? name : undefined;
};

/** An address that visitors may be led to. */
const isPage = (address: string): boolean => !/^\s*[a-z][a-z0-9+.-]*:/i.test(address) || /^\s*https?:/i.test(address);

/** `refuse` names what is left out. */
export function asServices(value: unknown, refuse: (part: string) => void): Service[] {
  if (!Array.isArray(value)) {
    refuse('services');
    return [];
  }
  return value.flatMap((each: unknown) => {
    const given = isObject(each) ? each : {};
    const name = short(given.name);
    if (!name) {
      refuse('a service without a name');
      return [];
    }
    const policyUrl = short(given.policyUrl);
    const isGood = !policyUrl || isPage(policyUrl);
    if (!isGood) refuse(`${name.slice(0, 80)}: policyUrl`);
    const cookies = asCookies(given.cookies, (part) => refuse(`${name.slice(0, 80)}: ${part}`));
    const texts = written({ provider: given.provider, country: given.country, purpose: given.purpose });
    return [{ name, ...texts, ...(policyUrl && isGood && { policyUrl }), ...(cookies.length > 0 && { cookies }) }];
  });
}

function asCookies(value: unknown, refuse: (part: string) => void): Cookie[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    refuse('cookies');
    return [];
  }
  return value.flatMap((each: unknown) => {
    const given = isObject(each) ? each : {};
    const name = cookieName(given.name);
    if (!name) refuse(`cookie ${String(given.name).slice(0, 80)}`);
    return name ? [{ name, ...written({ domain: given.domain, path: given.path, duration: given.duration }) }] : [];
  });
}

/** Those that are texts and not empty. */
function written<Name extends string>(values: Record<Name, unknown>): { [Each in Name]?: string } {
  const texts: { [Each in Name]?: string } = {};
  for (const name in values) {
    const text = short(values[name]);
    if (text) texts[name] = text;
  }
  return texts;
}

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
    const name = cookieName(first);
    if (!name) refused.push(first);
    return name ? [{ name, ...written({ domain, path, duration }) }] : [];
  });
  return { cookies, refused };
}
