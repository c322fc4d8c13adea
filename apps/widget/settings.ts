/** The site's settings: attributes of the script tag, and `window.assentConfig` for longer ones. Attributes win. */
import type { Category, WidgetConfig } from '#libs/widget/config';
import { attempt } from './attempt.ts';
import { assigned, page } from './page.ts';
import { type Wording, wordingFor } from './wording.ts';

export interface Settings
  extends Omit<WidgetConfig, 'lang' | 'dir' | 'texts' | 'categories' | 'maxAgeMonths' | 'policyUrl'> {
  domain: string;
  key: string;
  api: string;
  policyVersion: string;
  bannerVersion: string;
  maxAgeMonths: number;
  categories: Category[];
  /** ids of the optional categories */
  asked: string[];
  colors: Record<string, string>;
  policyUrl?: string | undefined;
  links: { label: string; href: string }[];
  wording: Wording;
  /** of the experiment */
  variant?: string | undefined;
}

declare global {
  interface Window {
    assentConfig?: WidgetConfig;
  }
}

const necessary = 'necessary';
/** The service's rule for category names. */
const acceptable = /^(?!(__proto__|constructor|prototype)$)[\w.:-]{1,64}$/;

/** `script` is the widget's own tag. Its address is also that of the service unless `api` says otherwise. */
export function readSettings(script: HTMLScriptElement | null): Settings {
  const attributes = { ...script?.dataset };
  const grouped = (group: string) =>
    Object.fromEntries(
      Object.entries(attributes).flatMap(([name, value]) => {
        const [, initial, rest] = name.match(`^${group}([A-Z])(.*)`) ?? [];
        return initial && value ? [[initial.toLowerCase() + rest, value]] : [];
      }),
    );
  const given: WidgetConfig = { ...assigned('assentConfig'), ...attributes };
  const { domain = '', key = '', policyVersion = '', bannerVersion = __VERSION__, maxAgeMonths } = given;
  const languages = [given.lang ?? '', page.documentElement.lang, ...navigator.languages];
  const wording = wordingFor(languages, { ...given.texts, ...grouped('text') });
  wording.direction = given.dir ?? wording.direction;
  const categories = toCategories(given.categories ?? 'analytics marketing');
  const asked = categories.flatMap(({ id, required }) => (required ? [] : [id]));
  const refused = asked.filter((id) => !acceptable.test(id));
  if (refused[0]) console.warn(`assent: the service refuses the category ${refused}`);
  return {
    ...given,
    domain,
    key,
    api: given.api ?? new URL('.', script?.src || location.href).href,
    policyVersion: String(policyVersion),
    bannerVersion: String(bannerVersion),
    maxAgeMonths: Number(maxAgeMonths) || 12,
    categories,
    asked,
    colors: { ...given.colors, ...grouped('color') },
    policyUrl: given.policyUrl && isLink(given.policyUrl) ? given.policyUrl : undefined,
    links: (given.links ?? []).filter(({ href }) => isLink(href)),
    wording,
    variant: undefined,
  };
}

/** Anything else, such as `javascript:`, would do more than lead somewhere. */
function isLink(href: string): boolean {
  const address = attempt(() => new URL(href, page.baseURI));
  const isFine = /^(https?|mailto|tel):$/.test(address?.protocol ?? '');
  if (!isFine) console.warn(`assent: a link leads to a page or a mail address, not to ${href}`);
  return isFine;
}

function toCategories(given: string | (string | Category)[]): Category[] {
  const list = typeof given === 'string' ? given.split(/[\s,]+/).filter(Boolean) : given;
  const categories = list
    .map((category) => (typeof category === 'string' ? { id: category } : category))
    .map((category) => (category.id === necessary ? { ...category, required: true } : category));
  return categories.some(({ required }) => required) ? categories : [{ id: necessary, required: true }, ...categories];
}
