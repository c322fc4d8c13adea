/** The widget in the page. A shadow tree keeps the styles of both apart. */
import type { Choice, Consent } from '../consent.ts';
import { type Notice, noticeOf } from '../notice.ts';
import { page } from '../page.ts';
import type { Settings } from '../settings.ts';
import { banner } from './banner.ts';
import { element, icon } from './element.ts';
import { preferences } from './preferences.ts';
import css from './widget.css?inline';

type Source = 'banner' | 'preferences';

interface ViewOptions {
  settings: Settings;
  gpc: boolean;
  /** the current choice */
  consent(): Consent | null;
  /** what the visitor saw when making it */
  seen(): string;
  /** A view has opened, which shows this. */
  onShow(notice: Notice): void;
  decide(choice: Choice, source: Source, notice: Notice): void;
}

export interface View {
  /** the first view */
  ask(): void;
  /** the second view */
  open(): void;
  close(): void;
  /** announces a text to screen readers */
  say(text: string): void;
}

export function createView({ settings, gpc, consent, seen, onShow, decide }: ViewOptions): View {
  const { wording, colors, theme = 'auto', position = '', button = 'left' } = settings;
  const { texts, language, direction } = wording;
  const shield = 'M12 3l8 3v5c0 5-3 8-8 10-5-2-8-5-8-10V6zM9 12l2 2 4-4';

  const dialog = element('dialog', { tabindex: '-1', 'aria-labelledby': 'title', 'aria-describedby': 'intro' });
  const reopen = element(
    'button',
    { class: `reopen ${button}`, 'aria-label': texts.settings, click: open },
    icon(shield),
  );
  const corner = element('section', { 'aria-label': texts.settings, hidden: true }, reopen);
  const status = element('p', { role: 'status', class: 'unseen' });
  const frame = element('div', { lang: language, dir: direction }, corner, dialog, status);

  const host = page.createElement('assent-widget');
  const shadow = host.attachShadow({ mode: 'open' });
  shadow.adoptedStyleSheets = [styles(theme)];
  for (const [name, value] of Object.entries(colors)) host.style.setProperty(`--assent-${kebab(name)}`, value);
  shadow.append(frame);
  // not in the body, which sites move, scale and replace
  page.documentElement.append(host);

  /** What had the focus before. */
  let before: Element | null = null;

  function show(source: Source, view: (notice: Notice, decided: (choice: Choice) => void) => HTMLElement[]): void {
    const modal = source === 'preferences';
    const notice = noticeOf(settings, gpc, consent());
    const focused = shadow.activeElement ?? page.activeElement;
    // fields in a form can take the places of its methods
    if (!dialog.open) before = focused instanceof HTMLFormElement ? null : focused;
    dialog.close();
    dialog.className = `${source} ${position}`;
    dialog.replaceChildren(...view(notice, (choice) => decide(choice, source, notice)));
    corner.hidden = true;
    if (modal) dialog.showModal();
    else dialog.show();
    // a visitor who is typing keeps the focus
    const field = before as HTMLElement | null;
    const isWriting = !modal && (field?.isContentEditable || field?.matches('input, textarea, select'));
    const first = isWriting ? field : dialog.querySelector<HTMLElement>('[autofocus]');
    (first ?? dialog).focus({ preventScroll: true });
    onShow(notice);
  }

  const ask = (): void => show('banner', (notice, decided) => banner(notice, { decide: decided, customise: open }));

  function open(): void {
    show('preferences', (notice, decided) =>
      preferences(notice, texts, consent(), seen(), { decide: decided, close: leave }),
    );
  }

  /** Closes without a decision: from the second view back to the first, if the visitor has not decided yet. */
  function leave(): void {
    if (dialog.classList.contains('preferences') && !consent()) ask();
    else close();
  }

  function close(): void {
    const wasOpen = dialog.open;
    dialog.close();
    corner.hidden = button === 'none';
    if (wasOpen && before instanceof HTMLElement) before.focus({ preventScroll: true });
  }

  dialog.addEventListener('keydown', (event) => {
    keepFocus(dialog, event);
    if (event.key === 'Escape') {
      event.preventDefault();
      leave();
    }
  });
  // the back gesture of a phone
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    leave();
  });

  return {
    ask,
    open,
    close,
    say: (text) => {
      status.textContent = text;
    },
  };
}

/** A constructed stylesheet, which the page's content security policy does not restrict. */
function styles(theme: 'auto' | 'light' | 'dark'): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  const dark = { auto: '$&', light: 'not all', dark: 'all' }[theme];
  sheet.replaceSync(css.replace(/\(prefers-color-scheme: ?dark\)/, dark));
  return sheet;
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Keeps the focus inside an open dialog: after the last control comes the first. */
function keepFocus(dialog: HTMLElement, event: KeyboardEvent): void {
  if (event.key !== 'Tab') return;
  // the dialog itself comes first; what is folded away cannot have the focus
  const controls = 'a[href], summary, input, button:not(details:not([open]) *)';
  const order = [dialog, ...dialog.querySelectorAll<HTMLElement>(controls)];
  const at = order.indexOf((dialog.getRootNode() as ShadowRoot).activeElement as HTMLElement);
  const next = event.shiftKey ? (at > 1 ? at - 1 : -1) : at + 1;
  event.preventDefault();
  (order.at(next) ?? order[1])?.focus();
}
