/** Warns in the console of settings that the widget ignores, or that the service would refuse. */
import { warn } from '#libs/widget/attempt';
import { cookieTexts, eachOf, type Given, serviceTexts } from '#libs/widget/services';
import { includes, join, map, words } from '#libs/widget/tamper-proof';
import { assigned } from './page.ts';

/** The service's rule for category names. */
const acceptable = /^(?!(__proto__|constructor|prototype)$)[\w.:-]{1,64}$/;

/** `asked`: ids of the optional categories */
export function warnOfSettings(asked: string[]): void {
  map(asked, (id) => {
    if (!acceptable.test(id)) warn(`bad category name ${id}`);
  });
  eachOf(assigned('assentConfig')?.categories, ({ services }) => {
    eachOf(services, (service) => {
      check(service, `service ${service.name}`, serviceTexts, ['cookies']);
      eachOf(service.cookies, (cookie) => {
        if (cookie.name === '*') warn('no cookie is named *');
        check(cookie, `cookie ${cookie.name}`, cookieTexts);
      });
    });
  });
}

/** `texts`: names of members that must be texts; `others`: names of other valid members. */
function check(given: Given, what: string, texts: string, others: string[] = []): void {
  const known = words(texts);
  for (const name in given) {
    const value = given[name];
    if (includes(others, name) || value === null || value === undefined) continue;
    if (!includes(known, name)) warn(`unknown ${name} of the ${what}: there is ${join([...known, ...others], ', ')}`);
    else if (typeof value !== 'string') warn(`${name} of the ${what} must be a text`);
  }
}
