import { isSameBanner } from './changes.ts';
import type { WidgetDraft } from './draft.ts';

/** The banner of every variant. */
const shared: ReadonlySet<string> = new Set([
  'texts',
  'colors',
  'theme',
  'position',
  'button',
  'categories',
  'regions',
]);
const sharedOf = (draft: WidgetDraft): WidgetDraft =>
  Object.fromEntries(Object.entries(draft).filter(([name]) => shared.has(name)));

/** Whether an A/B test keeps its name although the banner of one of its variants has changed. */
export function isTestChanged(live: WidgetDraft, next: WidgetDraft): boolean {
  const [before, after] = [live.experiment, next.experiment];
  if (!before || before.id !== after?.id) return false;
  const settings = new Map(before.variants.map((each) => [each.name, each.settings ?? {}]));
  return (
    !isSameBanner(sharedOf(live), sharedOf(next)) ||
    after.variants.some((each) => !isSameBanner(settings.get(each.name) ?? each.settings ?? {}, each.settings ?? {}))
  );
}
