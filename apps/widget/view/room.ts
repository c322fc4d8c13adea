/**
 * What the page's own keyboard needs while the banner is open: room below the page, so that what has the focus is not behind
 * the banner (WCAG 2.2, 2.4.11), and Escape. And edges that show where a banner with large text can be scrolled.
 */

import { concat, map, some } from '#libs/widget/tamper-proof';
import { page } from '../page.ts';
import edges from './edges.css?inline';
import { styles } from './styles.ts';

export function makeRoom(dialog: HTMLDialogElement, leave: () => void, isInert: () => boolean): void {
  const sheet = new CSSStyleSheet();
  const tree = dialog.getRootNode() as ShadowRoot;
  // the settings bring it along
  tree.adoptedStyleSheets = concat(tree.adoptedStyleSheets, [styles(edges)]);
  /** Unless the page, or the visitor who is typing, has a use for it. */
  const onKey = (event: KeyboardEvent) => {
    const isTyping = (event.composedPath()[0] as Partial<Element>).matches?.(':read-write,select');
    if (event.key === 'Escape' && dialog.open && !event.defaultPrevented && !isTyping && !isInert()) leave();
  };
  // a closed dialog has no size
  new ResizeObserver(() => {
    // each time, since `document.open` removes it
    addEventListener('keydown', onKey);
    const room = `-bottom:${innerHeight - dialog.getBoundingClientRect().top}px!important`;
    // where the window does not scroll, nothing could bring back what the room has moved
    const isStill = some([page.documentElement, page.body], (each) =>
      /hidden|clip/.test(getComputedStyle(each).overflowY),
    );
    sheet.replaceSync(isStill ? '' : `html{box-sizing:content-box!important;padding${room};scroll-padding${room}}`);
    const others = map(page.adoptedStyleSheets, (each) => (each === sheet ? undefined : each));
    page.adoptedStyleSheets = dialog.matches('.banner[open]') ? concat(others, [sheet]) : others;
  }).observe(dialog);
}
