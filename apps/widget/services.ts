/** What a category is made of, as the site gives it. Its keys get one order, since it is part of the notice. */
import type { Cookie, Service } from '#libs/widget/config';
import { map } from './plain.ts';

/** `isLink`: whether a visitor may be led there. */
export const toServices = (given: unknown, isLink: (href: string) => boolean): Service[] =>
  map(entries(given), (each) => {
    const name = text(each.name);
    const policyUrl = text(each.policyUrl);
    if (!name) return undefined;
    return {
      name,
      provider: text(each.provider),
      country: text(each.country),
      purpose: text(each.purpose),
      policyUrl: policyUrl && isLink(policyUrl) ? policyUrl : undefined,
      cookies: map(entries(each.cookies), toCookie),
    } as Service;
  });

function toCookie(each: Record<string, unknown>): Cookie | undefined {
  const name = text(each.name);
  if (name === '*') console.warn('assent: a cookie is named by more than *');
  if (!name || name === '*') return undefined;
  return { name, domain: text(each.domain), path: text(each.path), duration: text(each.duration) } as Cookie;
}

/** Objects of a list, and nothing else. */
const entries = (given: unknown): Record<string, unknown>[] =>
  // biome-ignore lint/suspicious/useIsArray: the page may have replaced that
  given instanceof Array ? map(given, (each) => (typeof each === 'object' && each ? each : undefined)) : [];

const text = (value: unknown): string | undefined =>
  (typeof value === 'string' && value) || typeof value === 'number' ? `${value}` : undefined;
