/**
 * `<div data-assent-services></div>`, as on a policy page: the services and cookies of each category, as tables outside any
 * shadow tree, so that the page's styles apply.
 */
import type { Category, Cookie, Service } from '#libs/widget/config';
import { map } from '#libs/widget/tamper-proof';
import { furtherPhrases } from '#libs/widget/texts';
import type { AllTexts, Wording } from '#libs/widget/wording';
import { page } from './page.ts';
import type { Settings } from './settings.ts';
import { add, type Children, element } from './view/element.ts';
import { countryName, ownWords } from './view/services.ts';

/** Returns a function that fills the tables on the page which are empty or in another language. */
export function createCookieTables(settings: Settings): () => void {
  let filled: { place: Element; wording: Wording }[] = [];
  const isFilled = (place: Element): boolean =>
    place.childElementCount > 0 &&
    map(filled, (each) => (each.place === place && each.wording === settings.wording ? true : undefined)).length > 0;
  return () => {
    const { categories, wording } = settings;
    filled = map(page.querySelectorAll('[data-assent-services]'), (place) => {
      if (!isFilled(place)) {
        place.replaceChildren();
        add(
          place,
          map(categories, (category) => section(category, wording)),
        );
      }
      return { place, wording };
    });
  };
}

function section({ id, label, description, services }: Category, wording: Wording): HTMLElement {
  const { language, direction } = wording;
  const texts: AllTexts = { ...furtherPhrases, ...wording.texts };
  const head = [
    element('strong', {}, label ?? texts[id] ?? id),
    element('div', {}, description ?? texts[`${id}Purpose`] ?? ''),
  ];
  const names = [texts.serviceList, texts.serviceProvider, texts.serviceUse, texts.cookieList, texts.cookieDuration];
  const shape = { lang: language, dir: direction };
  if (!services?.[0]) return element('div', shape, head);
  return element(
    'table',
    shape,
    element('caption', {}, head),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        map(names, (name) => element('th', { scope: 'col' }, name)),
      ),
    ),
    map(services, (service) => rows(service, texts, language)),
  );
}

/** A row for each cookie; the cells about the service span them. */
function rows(service: Service, texts: AllTexts, language: string): HTMLElement {
  const { name, provider, country, purpose, policyUrl, cookies = [] } = service;
  const rowspan = cookies[1] && `${cookies.length}`;
  const cell = (...content: Children) => element('td', { rowspan }, content);
  const ofCookie = ({ name: cookie, domain, duration }: Partial<Cookie>): Children => [
    element('td', {}, cookie ? element('code', { dir: 'ltr' }, cookie) : [], domain ? ` ${domain}` : []),
    element('td', {}, duration ? ownWords(duration) : []),
  ];
  const first = [
    element(
      'th',
      { scope: 'rowgroup', rowspan },
      ownWords(name),
      policyUrl ? [' ', element('a', { href: policyUrl }, texts.policy)] : [],
    ),
    cell(provider ? ownWords(provider) : [], country ? ` (${countryName(country, language)})` : []),
    cell(purpose ? ownWords(purpose) : []),
  ];
  return element(
    'tbody',
    {},
    map<Partial<Cookie>, HTMLElement>(cookies[0] ? cookies : [{}], (cookie, index) =>
      element('tr', {}, index ? [] : first, ofCookie(cookie)),
    ),
  );
}
