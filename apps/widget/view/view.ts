/** The widget in the page: the banner, the settings, and the button that opens them. */
import { type Notice, noticeOf } from '#libs/widget/notice';
import { map } from '#libs/widget/tamper-proof';
import { type Choice, type Consent, isGiven } from '../consent.ts';
import { gpc } from '../gpc.ts';
import type { Shown } from '../hash-notice.ts';
import { page } from '../page.ts';
import type { SecondFile } from '../preferences.ts';
import { openSecondFile } from '../second-file.ts';
import type { Settings } from '../settings.ts';
import { banner } from './banner.ts';
import { createDress } from './dress.ts';
import { add, type Children, element, icon } from './element.ts';
import { isInert, keepInPage } from './keep-in-page.ts';

type ViewName = 'banner' | 'preferences';
type Content = (notice: Notice, decided: (choice: Choice) => void) => Children;

interface ViewOptions {
  settings: Settings;
  /** the current choice; empty where nothing is asked */
  consent(): Partial<Consent> | null | undefined;
  /** what the visitor saw when making it */
  seen(): string;
  /** Called when a view has opened, with the notice that it shows. */
  onShow(notice: Notice): Shown;
  onSecond(file: SecondFile): void;
  decide(choice: Choice, view: ViewName, notice: Notice, shown?: Shown): void;
  /** called when the page's root or its attributes have changed */
  onPage(): void;
}

export interface View {
  /** the first view */
  ask(): void;
  /** the second view, once its file is there; if that does not come, the first view with a note about it */
  open(): void;
  close(): void;
  /** Applies another wording: an open view is shown again and keeps its state. */
  reword(): void;
  /** announces a text to screen readers */
  say(text: string): void;
  /** Call it whenever the page has grown: it puts the widget back if the page has replaced its document. */
  stay(): void;
  /** Puts content into an element with the widget's styles, which the page's cannot change. */
  dress(tag: 'assent-widget' | 'assent-embed', content: HTMLElement): HTMLElement;
  show(name: ViewName, content: Content): void;
  /** the element in the page that has the shadow tree */
  host: HTMLElement;
  /** loads the second file */
  load: ReturnType<typeof openSecondFile>;
}

export function createView({ settings, consent, seen, onShow, onSecond, decide, onPage }: ViewOptions): View {
  const shield = 'M12 3l8 3v5c0 5-3 8-8 10-5-2-8-5-8-10V6zM9 12l2 2 4-4';
  const dialog = element('dialog', { tabindex: '-1', 'aria-labelledby': 'title', 'aria-describedby': 'intro' });
  const reopen = element('button', { class: `reopen ${settings.button ?? 'left'}`, click: open }, icon(shield));
  const corner = element('section', { hidden: true }, reopen);
  const status = element('p', { role: 'status', class: 'unseen' });
  const frame = element('div', { role: 'none' }, corner, dialog, status);

  let file: SecondFile | undefined;
  let isModal = false;
  let focusedBefore: Element | null = null;
  let showAgain = (): void => {};

  const { paint, rules, dress } = createDress(settings, () => file?.css);
  const host = dress('assent-widget', frame);
  const shadow = host.shadowRoot as ShadowRoot;
  const load = openSecondFile(settings, host, (arrived) => {
    file = arrived;
    arrived.makeRoom(dialog, leave, () => isInert(frame));
    onSecond(arrived);
  });
  const look = () => {
    paint();
    onPage();
  };
  const stay = keepInPage(host, frame, dialog, look, leave);
  reword();
  return {
    ask,
    stay,
    show,
    host,
    dress,
    load,
    open,
    close,
    reword,
    say: (text) => {
      status.textContent = text;
    },
  };

  /** `isFallback`: instead of the settings, which could not be loaded. */
  function ask(isFallback?: boolean): void {
    show('banner', (notice, decided) => banner(notice, decided, consent() ? close : open), isFallback);
  }

  async function open(): Promise<void> {
    let found = file;
    if (!found) {
      if (frame.ariaBusy) return;
      frame.ariaBusy = 'true';
      // the host must be in the page, because the file's script is added below it
      stay(true);
      const wasOpen = dialog.open;
      found = await load();
      frame.ariaBusy = null;
      // the visitor may have decided meanwhile
      if (dialog.open !== wasOpen) return;
    }
    if (found) {
      const { preferences } = found;
      show('preferences', (notice, decided) =>
        preferences(notice, settings.wording.texts, consent(), seen(), { decide: decided, close: leave }),
      );
    } else {
      ask(true);
      status.textContent = settings.wording.texts.noSettings;
    }
  }

  function show(name: ViewName, content: Content, isFallback?: boolean): void {
    stay(true);
    isModal = name === 'preferences';
    if (isModal) shadow.adoptedStyleSheets = rules();
    showAgain = () => show(name, content, isFallback);
    const focused = focusedIn(shadow);
    if (!dialog.open) focusedBefore = focused;
    const notice = noticeFor(isFallback);
    let shown: Shown | undefined;
    dialog.close();
    dialog.className = `${name} ${settings.position ?? ''}`;
    dialog.replaceChildren();
    add(dialog, [content(notice, (choice) => decide(choice, name, notice, shown))]);
    corner.hidden = true;
    if (isModal) dialog.showModal();
    // `show()` would move the focus
    else dialog.open = true;
    // a visitor who is typing keeps the focus; if it is in a frame, they may be typing there
    if (isModal || !focused?.matches(':read-write,select,iframe'))
      ((!isFallback && dialog.querySelector<HTMLElement>('.first')) || dialog).focus({ preventScroll: true });
    shown = onShow(notice);
  }

  function noticeFor(isFallback?: boolean): Notice {
    const notice = noticeOf(settings, gpc, isGiven(consent()));
    settings.adapt?.(notice);
    const { texts } = settings.wording;
    if (isFallback) notice.note = texts.noSettings;
    if (consent() && !isModal) notice.buttons = [texts.accept, notice.settings.buttons[1], texts.close];
    return notice;
  }

  function reword(): void {
    const { texts, language, direction } = settings.wording;
    paint();
    frame.lang = language;
    frame.dir = direction;
    map([corner, reopen], (named) => named.setAttribute('aria-label', texts.settings));
    if (!dialog.open) return;
    if (file) file.renew(dialog, showAgain);
    else showAgain();
  }

  /** Closes without a decision: from the second view back to the first, if the visitor has not decided yet. */
  function leave(): void {
    if (isModal && !consent()) ask();
    else close();
  }

  function close(): void {
    const wasOpen = dialog.open;
    dialog.close();
    corner.hidden = settings.button === 'none';
    if (wasOpen && focusedBefore instanceof HTMLElement) focusedBefore.focus({ preventScroll: true });
  }
}

function focusedIn(tree: ShadowRoot): Element | null {
  const active = tree.activeElement ?? page.activeElement;
  // a form's fields can replace its members
  let focused = active instanceof HTMLFormElement ? null : active;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused;
}
