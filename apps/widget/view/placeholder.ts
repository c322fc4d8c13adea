/** The box in place of an iframe that waits. */
import type { Notice } from '#libs/widget/notice';
import { map, words } from '#libs/widget/tamper-proof';
import { actions, intro } from './banner.ts';
import { element } from './element.ts';

export type PlaceholderNotice = Pick<
  Notice,
  'title' | 'intro' | 'note' | 'links' | 'buttons' | 'language' | 'version' | 'policyVersion' | 'variant'
>;

/** The properties by which the page's layout places and sizes a box. */
const properties =
  'position top right bottom left float z-index width height min-width min-height max-width max-height aspect-ratio box-sizing margin border-width border-radius flex order align-self justify-self grid-area vertical-align';

export const placeholder = (notice: PlaceholderNotice, dir: string, clicks: (() => void)[]): HTMLElement =>
  element(
    'div',
    { class: 'embed', role: 'group', lang: notice.language, dir, 'aria-label': notice.title },
    element('div', {}, element('strong', {}, notice.title), intro(notice), actions(notice.buttons, clicks)),
  );

/**
 * Gives the box the size and place of a hidden element. Under `display: none`, computed values are what its rules specify,
 * not used sizes.
 */
export function copyPlace(hidden: Element, box: HTMLElement): void {
  const { style, classList } = box;
  const computed = getComputedStyle(hidden);
  map(words(properties), (name) => {
    const value = computed.getPropertyValue(name);
    // the default size of an iframe
    const size = name === 'width' ? '300px' : computed.aspectRatio === 'auto' ? '150px' : value;
    style.setProperty(name, value === 'auto' && (name === 'width' || name === 'height') ? size : value);
  });
  classList.remove('small');
  classList.toggle('small', box.scrollHeight > box.clientHeight);
}
