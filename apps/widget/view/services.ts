/** The services of a category, folded below it. */
import type { Cookie, Service } from '#libs/widget/config';
import { fill } from '#libs/widget/fill';
import { includes, map, slice } from '#libs/widget/tamper-proof';
import type { AllTexts } from '#libs/widget/wording';
import { type Children, element } from './element.ts';

/** The site's own words may have another direction than the visitor's language: "13 months" in Arabic. */
export const ownWords = (text: string): HTMLElement => element('bdi', {}, text);

/** `category`: its label */
export function services(list: Service[], category: string, language: string, texts: AllTexts): HTMLElement {
  // a full-width colon has its space inside
  const colon = includes(['ja', 'zh'], slice(language, 0, 2)) ? '：' : ': ';
  const service = ({ name, provider, country, purpose, policyUrl, cookies = [] }: Service) => {
    const place = country && `${provider ? ' ' : ''}(${countryName(country, language)})`;
    return element(
      'div',
      { class: 'service' },
      element('strong', {}, ownWords(name)),
      purpose ? element('p', {}, ownWords(purpose)) : [],
      provider || place
        ? element('p', {}, `${texts.serviceProvider}${colon}`, provider ? ownWords(provider) : [], place ?? '')
        : [],
      policyUrl ? element('p', {}, element('a', { href: policyUrl }, texts.policy)) : [],
      cookies.length > 0 ? table(cookies, texts) : [],
    );
  };
  const summary = element('summary', { class: 'fine' }, fill(texts.servicesOf, { category, count: `${list.length}` }));
  return element('details', {}, summary, map(list, service));
}

function table(cookies: Cookie[], texts: AllTexts): HTMLElement {
  const row = (tag: 'th' | 'td', one: Children, other: Children) =>
    element('tr', {}, element(tag, {}, one), element(tag, {}, other));
  return element(
    'table',
    {},
    row('th', [texts.cookieList], [texts.cookieDuration]),
    map(cookies, ({ name, domain, duration = '' }) =>
      row('td', [element('code', { dir: 'ltr' }, name), domain ? ` ${domain}` : ''], [ownWords(duration)]),
    ),
  );
}

export function countryName(country: string, language: string): string {
  try {
    return new Intl.DisplayNames(language, { type: 'region' }).of(country) ?? country;
  } catch {
    // it is a name already, or the browser does not know the language
    return country;
  }
}
