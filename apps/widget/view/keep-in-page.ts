/** Keeps the widget in the page and above its content, and handles its clicks and keys before the page can stop them. */
import { orElse } from '#libs/widget/attempt';
import { bare, includes, map, some, words } from '#libs/widget/tamper-proof';
import { page } from '../page.ts';
import { find } from '../page-elements.ts';

/**
 * `frame`: the content of the host's shadow tree. `onPage`: called when the page's root or its attributes have changed.
 * Returns a function to call whenever the page has grown. With `true`, it puts the widget back even if the page has removed
 * just this element, because something is about to be shown.
 */
export function keepInPage(
  host: HTMLElement,
  frame: HTMLElement,
  dialog: HTMLDialogElement,
  onPage: () => void,
  leave: () => void,
): (isShowing?: boolean) => void {
  /** the page's body while the widget was last in the page */
  let body: HTMLElement | null = null;

  attach();
  return (isShowing) => {
    if (host.isConnected) body = page.body;
    // a page that removes this element alone does so on purpose
    else if (isShowing || (page.documentElement && (host.parentNode || body !== page.body))) attach();
    rise();
    // each time, since `document.open` removes all listeners
    map(words('focusin pointerdown mousedown touchstart keydown keyup click'), (type) =>
      addEventListener(type, onEvent, true),
    );
    // the back gesture of a phone
    dialog.oncancel = goBack;
    // once a modal dialog of the page closes, the widget can return to the top layer
    addEventListener('close', rise, true);
  };

  function attach(): void {
    // not in the body, which sites move, scale and replace
    page.documentElement.append(host);
    body = page.body;
    onPage();
    // a page may change its scheme by a class
    new MutationObserver(onPage).observe(page.documentElement, bare({ attributes: true }));
    // a dialog that was taken out of the document is no longer modal
    if (dialog.matches('.preferences[open]')) {
      dialog.close();
      dialog.showModal();
    }
  }

  /**
   * Puts the widget into the top layer, where no transform of the page moves it; not above a modal dialog, where it would
   * be visible and could not be used. Older browsers have no popovers.
   */
  function rise(): void {
    orElse(() => {
      frame.popover = isInert(frame) ? null : 'manual';
      frame.showPopover();
    });
  }

  function goBack(event: Event): void {
    event.preventDefault();
    leave();
  }

  /** Runs before the page's own listeners: a dialog of the page may keep the focus and stop what happens outside it. */
  function onEvent(event: Event): void {
    const path = event.composedPath();
    if (includes(path, host)) {
      event.stopImmediatePropagation();
      if (event.type === 'keydown' && (event as KeyboardEvent).key === 'Escape' && dialog.open) goBack(event);
    }
    // an element that markup has named `assentClick` is no function
    if (event.type === 'click')
      map(path, ({ assentClick }) => (typeof assentClick === 'function' ? assentClick : undefined))[0]?.();
  }
}

/** Whether a modal dialog of the page makes the widget inert. Older browsers cannot match `:modal`. */
export const isInert = (frame: HTMLElement): boolean =>
  orElse(() => some(find('dialog:modal', ''), (dialog) => !frame.contains(dialog)), false);
