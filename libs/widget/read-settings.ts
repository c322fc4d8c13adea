/** How the widget reads the settings that are part of a notice. */
import type { Category, WidgetConfig } from './config.ts';
import type { NoticeSettings } from './notice.ts';
import { toServices } from './services.ts';
import { bare, concat, map, some, words } from './tamper-proof.ts';

const necessary = 'necessary';

/** Other settings are returned unchanged. `isLink`: whether an address may be linked. */
export function readShown(given: WidgetConfig, isLink: (href: string) => boolean) {
  return {
    ...given,
    policyVersion: `${given.policyVersion ?? ''}`,
    categories: toCategories(given.categories ?? 'analytics marketing', isLink),
    policyUrl: given.policyUrl && isLink(given.policyUrl) ? given.policyUrl : undefined,
    links: map(given.links ?? [], (each) => {
      const link = bare(each);
      return isLink(link.href) ? link : undefined;
    }),
  } satisfies Partial<Omit<NoticeSettings, 'bannerVersion'>>;
}

function toCategories(given: string | (string | Category)[], isLink: (href: string) => boolean): Category[] {
  const categories = map(typeof given === 'string' ? words(given) : given, (each): Category | undefined => {
    if (!each) return undefined;
    const category: Category = bare(typeof each === 'string' ? { id: each } : each);
    category.services = toServices(category.services, isLink);
    if (category.id === necessary) category.required = true;
    return category;
  });
  return some(categories, ({ required }) => required)
    ? categories
    : concat([bare<Category>({ id: necessary, required: true })], categories);
}
