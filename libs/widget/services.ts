/** Reads the services of a category. Their keys get a fixed order, since services are part of the notice. */

import type { Cookie, Service } from './config.ts';
import { map, own, words } from './tamper-proof.ts';

export type Given = Record<string, unknown>;

export const serviceTexts = 'name provider country purpose policyUrl';
export const cookieTexts = 'name domain path duration';

/** `isLink`: whether an address may be linked. */
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

/** Calls `work` for the objects in a list, and leaves out all other items. */
export const eachOf = <Result>(given: unknown, work: (each: Given) => Result | undefined): Result[] =>
  // biome-ignore lint/suspicious/useIsArray: the page may have replaced that
  map(given instanceof Array ? given : [], (each) =>
    typeof each === 'object' && each ? work(own(each as Given)) : undefined,
  );

/** The members with these names that are texts. */
function pick(given: Given, names: string): Record<string, string> {
  const picked = own<string>();
  map(words(names), (name) => {
    const value = given[name];
    if (typeof value === 'string' && value) picked[name] = value;
  });
  return picked;
}
