import { either } from '../attempt.ts';
import { page } from '../page.ts';

/** Whether a modal dialog of the page is open, which makes everything else inert. Older browsers cannot tell. */
export const isInert = (): unknown => either(() => page.querySelector(':modal'));

/**
 * Puts the element into the top layer, where no transform of the page moves it; not above a modal dialog, where it would be
 * seen and could not be used. Older browsers have no popovers.
 */
export function rise(frame: HTMLElement): void {
  either(() => {
    frame.popover = isInert() ? null : 'manual';
    frame.showPopover();
  });
}
