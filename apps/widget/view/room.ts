/**
 * Lets keyboard users use the page while the banner is open: room below the page, so that the focus is never behind the
 * banner (WCAG 2.2, 2.4.11), and Escape. Also adds edges that show where a banner with large text can be scrolled.
 */
import { concat, map, some } from '#libs/widget/tamper-proof';
import { page } from '../page.ts';
import edges from './edges.css?inline';
import { styles } from './styles.ts';

export function makeRoom(dialog: HTMLDialogElement, leave: () => void, isInert: () => boolean): void {
  const sheet = new CSSStyleSheet();
  const tree = dialog.getRootNode() as ShadowRoot;
  // opening the settings replaces these sheets; the second file's sheet contains the same rules
  tree.adoptedStyleSheets = concat(tree.adoptedStyleSheets, [styles(edges)]);
  /** Escape closes the banner, unless the page handles it or the visitor is typing. */
  const onKey = (event: KeyboardEvent) => {
    const isTyping = (event.composedPath()[0] as Partial<Element>).matches?.(':read-write,select');
    if (event.key === 'Escape' && dialog.open && !event.defaultPrevented && !isTyping && !isInert()) leave();
  };
  // a closed dialog has no size
  new ResizeObserver(() => {
    // each time, since `document.open` removes the listener
    addEventListener('keydown', onKey);
    const room = `-bottom:${innerHeight - dialog.getBoundingClientRect().top}px!important`;
    // no room if the window cannot scroll: the visitor could not scroll back to what the room has moved
    const isStill = some([page.documentElement, page.body], (each) =>
      /hidden|clip/.test(getComputedStyle(each).overflowY),
    );
    sheet.replaceSync(isStill ? '' : `html{box-sizing:content-box!important;padding${room};scroll-padding${room}}`);
    const others = map(page.adoptedStyleSheets, (each) => (each === sheet ? undefined : each));
    page.adoptedStyleSheets = dialog.matches('.banner[open]') ? concat(others, [sheet]) : others;
  }).observe(dialog);
}
