/**
 * `<iframe data-assent="marketing" data-src="…">` and the like: the content is loaded once all of their categories are
 * allowed.
 */

import { includes, map, own, words } from '#libs/widget/tamper-proof';
import { resolve } from './page.ts';
import { find } from './page-elements.ts';
import { trusted } from './trusted.ts';

const held = ':is(iframe,img,link,video,embed,object)[data-assent]';

/** An iframe that waits. */
export interface Waiting {
  element: HTMLElement;
  address: string;
  /** the categories that are not allowed yet */
  refused: string[];
}

/** Loads what is allowed, and returns the iframes that need a placeholder. */
export function loadEmbeds(isAllowed: (category: string) => boolean, nonce: string): Waiting[] {
  return map(find<HTMLElement>(held, nonce), (element) => {
    const data = own(element.dataset);
    const needed = words(data.assent ?? '');
    const url = resolve(data.src || data.href || '//');
    // an address such as `javascript:` would run code
    const address = includes(['https:', 'http:'], url?.protocol) && url?.href;
    if (!needed[0] || !address) return undefined;
    const refused = map(needed, (category) => (isAllowed(category) ? undefined : category));
    if (!refused[0]) load(element, trusted(address));
    else if (element.localName === 'iframe' && data.assentPlaceholder !== 'none') return { element, address, refused };
    return undefined;
  });
}

/** Loads the element. It stays loaded even if the visitor later refuses its category. */
export function load(element: HTMLElement, address: string): void {
  element.removeAttribute('data-assent');
  element.setAttribute('href' in element ? 'href' : 'data' in element ? 'data' : 'src', address);
}
