/** Room below the page while the banner covers its end, so that what has the focus is not behind it (WCAG 2.2, 2.4.11). */
import { page } from '../page.ts';
import { joined, map } from '../plain.ts';

export function makeRoom(dialog: HTMLElement): void {
  const sheet = new CSSStyleSheet();
  // a closed dialog has no size
  new ResizeObserver(() => {
    const room = `-bottom:${innerHeight - dialog.getBoundingClientRect().top}px!important;`;
    sheet.replaceSync(`html{padding${room}scroll-padding${room}}`);
    const others = map(page.adoptedStyleSheets, (each) => (each === sheet ? undefined : each));
    page.adoptedStyleSheets = dialog.matches('.banner[open]') ? joined(others, [sheet]) : others;
  }).observe(dialog);
}
