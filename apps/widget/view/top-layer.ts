import { either } from '#libs/widget/attempt';
import { some } from '#libs/widget/plain';
import { find } from '../growth.ts';

/** Whether a modal dialog of the page makes the widget inert. Older browsers cannot tell. */
export const isInert = (frame: HTMLElement): boolean =>
  either(() => some(find('dialog:modal', ''), (dialog) => !frame.contains(dialog)), false);

/**
 * Puts the element into the top layer, where no transform of the page moves it; not above a modal dialog, where it would be
 * seen and could not be used. Older browsers have no popovers.
 */
export function rise(frame: HTMLElement): void {
  either(() => {
    frame.popover = isInert(frame) ? null : 'manual';
    frame.showPopover();
  });
}
