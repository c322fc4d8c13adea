/** Rules for categories, and for the services and cookies below them. */
import { linkRule } from './link-rules.ts';
import {
  below,
  isKeyName,
  isObject,
  keyNameRule,
  listOf,
  matching,
  members,
  type Rule,
  text,
} from './setting-rules.ts';
import { isTaken } from './text-rules.ts';

/** The most that a record can have. */
const mostCategories = 64;
/** The most in all categories together. */
const mostServices = 1_000;

/** `*` alone would match every cookie of the site. */
export const isCookieName = (name: string): boolean => name !== '*' && /^[^\s;,=]+$/.test(name);

const partOfCookie = matching(/^[^\s;,]+$/, 'must be a text without spaces, commas and semicolons');

const cookieRule = members(
  {
    name: (value, path, report) => {
      if (typeof value !== 'string' || !isCookieName(value))
        report(path, 'must be the name of a cookie: without spaces, and not * alone');
    },
    domain: partOfCookie,
    path: partOfCookie,
    duration: text(),
  },
  ['name'],
);

const serviceRule = members(
  {
    name: text(),
    provider: text(),
    country: text(),
    purpose: text(),
    policyUrl: linkRule,
    cookies: listOf(cookieRule),
  },
  ['name'],
);

/** Categories as the site writes them: names in one text, or a list of names and objects. */
const listed = (categories: unknown): unknown[] =>
  typeof categories === 'string'
    ? categories.split(/[\s,]+/).filter(Boolean)
    : Array.isArray(categories)
      ? categories
      : ['analytics', 'marketing'];

const idOf = (category: unknown): unknown => (isObject(category) ? category.id : category);

/** Includes the necessary category, which every banner has. */
export const idsOf = (categories: unknown): Set<string> =>
  new Set([
    'necessary',
    ...listed(categories)
      .map(idOf)
      .filter((id) => typeof id === 'string'),
  ]);

/** `texts`: the site's own. */
export function categoriesRule(texts: unknown): Rule {
  const isLanguageOfTexts = (id: string) => isObject(texts) && isObject(texts[id]);
  return (value, path, report) => {
    const seen = new Set<unknown>();
    let services = 0;
    const idRule: Rule = (id, at) => {
      if (typeof id !== 'string' || !isKeyName(id)) return report(at, keyNameRule);
      if (seen.has(id)) return report(at, 'there is another category with this name');
      seen.add(id);
      if (isTaken(id) || isLanguageOfTexts(id)) report(at, 'the widget uses this name itself');
    };
    const counted: Rule = (service, at) => {
      services += 1;
      if (services > mostServices) report(at, `there may be at most ${mostServices} services`);
      else serviceRule(service, at, report);
    };
    const category = members(
      {
        id: idRule,
        required: (required, at) => {
          if (typeof required !== 'boolean') report(at, 'must be true or false');
        },
        label: text(),
        description: text(),
        services: listOf(counted),
      },
      ['id'],
    );
    const either: Rule = (each, at) => {
      if (!isObject(each)) return idRule(each, at, report);
      category(each, at, report);
      if (each.id === 'necessary' && each.required === false)
        report(below(at, 'required'), 'the necessary category is always on');
    };
    if (typeof value === 'string') for (const id of listed(value)) idRule(id, path, report);
    else listOf(either, mostCategories)(value, path, report);
  };
}
