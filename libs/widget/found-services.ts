/** Turns what a site check found, and the settings do not list yet, into services for people to complete. */
import { isCookieName } from './category-rules.ts';
import type { Category, Service, WidgetConfig } from './config.ts';
import type { CheckStep } from './site-check.ts';

/** Categories in which a kind of host usually belongs; any other kind is taken as necessary. */
const usual: Record<string, string> = {
  ad: 'marketing',
  social: 'marketing',
  marketing: 'marketing',
  video: 'marketing',
  analytics: 'analytics',
};
const necessary = 'necessary';

/** Name of the service that collects the cookies that are in no list. */
export const unassignedName = 'Cookies that the site check found';

type Seen = Pick<CheckStep, 'hosts' | 'cookies'>;

/**
 * The settings with a service for each known owner of a host, and one with the cookies that are in no list. `added`: how
 * many owners and cookies were added; 0 if the settings list everything.
 */
export function withFound(config: WidgetConfig, steps: readonly Seen[]): { config: WidgetConfig; added: number } {
  const categories = listed(config.categories);
  const services = categories.flatMap((category) => category.services ?? []);
  const isListed = (owner: string) =>
    services.some(({ name, provider = '' }) => [name, provider].some((text) => text.toLowerCase().includes(owner)));
  const optional = categories.filter(({ id, required }) => id !== necessary && !required);
  const categoryFor = (kind: string): string => {
    const wanted = usual[kind];
    if (!wanted) return necessary;
    return (optional.find(({ id }) => id === wanted) ?? optional.at(-1))?.id ?? necessary;
  };
  const owners = new Map(
    steps.flatMap(({ hosts }) => hosts.flatMap(({ known }) => (known ? [[known.owner, known.kind] as const] : []))),
  );
  const found = [...owners]
    .filter(([owner]) => !isListed(owner.toLowerCase()))
    .map(([name, kind]): [string, Service] => [categoryFor(kind), { name }]);
  const names = new Set(
    steps.flatMap(({ cookies }) => cookies.flatMap(({ name, category }) => (category === null ? [name] : []))),
  );
  const known = new Set(services.flatMap(({ cookies = [] }) => cookies.map(({ name }) => name)));
  const cookies = [...names].filter((name) => isCookieName(name) && !known.has(name)).map((name) => ({ name }));
  if (cookies.length > 0) found.push([optional.at(-1)?.id ?? necessary, { name: unassignedName, cookies }]);
  const added = found.length - (cookies.length > 0 ? 1 : 0) + cookies.length;
  if (added === 0) return { config, added };
  const isMissing = found.some(([id]) => id === necessary) && !categories.some(({ id }) => id === necessary);
  const all = isMissing ? [{ id: necessary }, ...categories] : categories;
  return {
    added,
    config: {
      ...config,
      categories: all.map((category) => {
        const more = found.flatMap(([id, service]) => (id === category.id ? [service] : []));
        return more.length > 0 ? { ...category, services: [...(category.services ?? []), ...more] } : category;
      }),
    },
  };
}

function listed(given: WidgetConfig['categories'] = 'analytics marketing'): Category[] {
  const list = typeof given === 'string' ? given.split(/[\s,]+/).filter(Boolean) : given;
  return list.map((each) => (typeof each === 'string' ? { id: each } : each));
}
