/** What a category is made of, as the site gives it. Its keys get one order, since it is part of the notice. */

import { warn } from './attempt.ts';
import type { Cookie, Service } from './config.ts';
import { map, own, words } from './plain.ts';

type Given = Record<string, unknown>;

/** `isLink`: whether a visitor may be led there. */
export const toServices = (given: unknown, isLink: (href: string) => boolean): Service[] =>
  list(given, (each) => {
    const service = pick(each, 'name provider country purpose policyUrl') as unknown as Service;
    if (service.policyUrl && !isLink(service.policyUrl)) delete service.policyUrl;
    service.cookies = list(each.cookies, (cookie) => {
      const picked = pick(cookie, 'name domain path duration') as unknown as Cookie;
      if (picked.name !== '*') return picked.name ? picked : undefined;
      warn('no cookie is named *');
      return undefined;
    });
    return service.name ? service : undefined;
  });

/** Of the objects in a list. */
const list = <Result>(given: unknown, work: (each: Given) => Result | undefined): Result[] =>
  // biome-ignore lint/suspicious/useIsArray: the page may have replaced that
  map(given instanceof Array ? given : [], (each) =>
    typeof each === 'object' && each ? work(own(each as Given)) : undefined,
  );

/** What is text. */
function pick(given: Given, names: string): Record<string, string> {
  const picked = own<string>({});
  map(words(names), (name) => {
    const value = given[name];
    if (typeof value === 'string' && value) picked[name] = value;
  });
  return picked;
}
