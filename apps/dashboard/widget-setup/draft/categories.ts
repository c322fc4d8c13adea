/** The categories that a banner asks for. Their names are texts, so that each language has its own. */
import type { Category, Service, WidgetConfig } from '#libs/widget/config';
import { isKeyName } from '#libs/widget/setting-rules';
import { isTaken } from '#libs/widget/text-rules';
import type { Texts } from './texts.ts';

export const necessary = 'necessary';
/** Categories with texts in the widget, besides the necessary one. */
export const knownCategories: readonly string[] = ['functional', 'analytics', 'marketing'];
export const defaultCategories: Category[] = [{ id: 'analytics' }, { id: 'marketing' }];

/** The name of a category's description text. */
export const purposeOf = (id: string): string => `${id}Purpose`;

/** The reason why a category cannot have this id; undefined if it can. */
export function idTrouble(id: string, others: readonly Category[]): string | undefined {
  if (id === '') return 'Enter a name.';
  if (!isKeyName(id)) return 'Only A–Z, a–z, 0–9 and _ . : - (no spaces), at most 64 of them.';
  if (others.some((each) => each.id === id)) return 'There is one with this name.';
  return isTaken(id) ? 'The widget uses this name itself.' : undefined;
}

/** A site's own required category does not replace the necessary one. The necessary one is omitted if it has no texts. */
function withNecessary(categories: Category[]): Category[] {
  const needs = categories.some(({ id, required }) => required && id !== necessary);
  const own = categories.find(({ id }) => id === necessary);
  if (needs && !own) return [{ id: necessary, required: true }, ...categories];
  return needs || own?.services ? categories : categories.filter(({ id }) => id !== necessary);
}

export const withCategory = (categories: Category[], added: Category): Category[] =>
  withNecessary([...categories.filter(({ id }) => id !== added.id), added]);

export const withoutCategory = (categories: Category[], id: string): Category[] =>
  withNecessary(categories.filter((each) => each.id !== id));

export const withRequired = (categories: Category[], id: string, isRequired: boolean): Category[] =>
  withNecessary(
    categories.map((each) => {
      const { required, ...others } = each;
      return each.id === id ? { ...others, ...(isRequired && { required: true }) } : each;
    }),
  );

/** Includes the necessary category, which is not in the list otherwise. */
export function withServices(categories: Category[], id: string, list: Service[]): Category[] {
  const isThere = categories.some((each) => each.id === id);
  const all = isThere ? categories : [{ id, required: true }, ...categories];
  return withNecessary(
    all.map((each) => {
      const { services, ...others } = each;
      return each.id === id ? { ...others, ...(list.length > 0 && { services: list }) } : each;
    }),
  );
}

/** Normalizes categories: their names and descriptions become texts for all languages. */
export function asCategories(given: WidgetConfig['categories']): { categories?: Category[]; texts: Texts } {
  const texts: Texts = {};
  if (given === undefined) return { texts };
  const list = typeof given === 'string' ? given.split(/[\s,]+/).filter(Boolean) : given;
  const categories = list.map((each): Category => {
    const { id, required, label, description, services = [] } = typeof each === 'string' ? { id: each } : each;
    if (label) texts[id] = label;
    if (description) texts[purposeOf(id)] = description;
    return {
      id,
      ...((required || id === necessary) && { required: true }),
      ...(services.length > 0 && { services: services.map(tidied) }),
    };
  });
  return { categories: withNecessary(categories), texts };
}

const tidied = ({ cookies = [], ...service }: Service): Service => ({
  ...service,
  ...(cookies.length > 0 && { cookies }),
});
