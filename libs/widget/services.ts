/** What a category is made of, as the site gives it. Its keys get one order, since it is part of the notice. */

import type { Cookie, Service } from './config.ts';
import { map, own, words } from './tamper-proof.ts';

export type Given = Record<string, unknown>;

export const serviceTexts = 'name provider country purpose policyUrl';
export const cookieTexts = 'name domain path duration';

/** `isLink`: whether a visitor may be led there. */
export const toServices = (given: unknown, isLink: (href: string) => boolean): Service[] =>
  eachOf(given, (each) => {
    const service = pick(each, serviceTexts) as unknown as Service;
    if (service.policyUrl && !isLink(service.policyUrl)) delete service.policyUrl;
    service.cookies = eachOf(each.cookies, (cookie) => {
      const picked = pick(cookie, cookieTexts) as unknown as Cookie;
      return picked.name && picked.name !== '*' ? picked : undefined;
    });
    return service.name ? service : undefined;
  });

/** Of the objects in a list. */
export const eachOf = <Result>(given: unknown, work: (each: Given) => Result | undefined): Result[] =>
  // biome-ignore lint/suspicious/useIsArray: the page may have replaced that
  map(given instanceof Array ? given : [], (each) =>
    typeof each === 'object' && each ? work(own(each as Given)) : undefined,
  );

/** What is text. */
function pick(given: Given, names: string): Record<string, string> {
  const picked = own<string>();
  map(words(names), (name) => {
    const value = given[name];
    if (typeof value === 'string' && value) picked[name] = value;
  });
  return picked;
}
