/** The widget in the page. A shadow tree keeps the styles of both apart. */
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
import { isInert, keepInPage } from './presence.ts';

type ViewName = 'banner' | 'preferences';
type Content = (notice: Notice, decided: (choice: Choice) => void) => Children;

interface ViewOptions {
  settings: Settings;
  /** the current choice; empty where nothing is asked */
  consent(): Partial<Consent> | null | undefined;
  /** what the visitor saw when making it */
  seen(): string;
  /** A view has opened, which shows this. */
  onShow(notice: Notice): Shown;
  onSecond(file: SecondFile): void;
  decide(choice: Choice, view: ViewName, notice: Notice, shown?: Shown): void;
  /** The page has another root, or that has other attributes. */
  onPage(): void;
}

export interface View {
  /** the first view */
  ask(): void;
  /** the second view, once its file is there; where that does not come, the first one with a word about it */
  open(): void;
  close(): void;
  /** Takes over another wording: what is open is shown anew, as the visitor has it. */
  word(): void;
  /** announces a text to screen readers */
  say(text: string): void;
  /** Looks at the page whenever that has grown, and comes back after it has replaced its document. */
  stay(): void;
  /** Puts content into an element that looks like the widget, whatever the page's styles are. */
  dress(tag: 'assent-widget' | 'assent-embed', content: HTMLElement): HTMLElement;
  show(name: ViewName, content: Content): void;
  /** in the page, with the shadow tree */
  host: HTMLElement;
  /** the second file */
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
  word();
  return {
    ask,
    stay,
    show,
    host,
    dress,
    load,
    open,
    close,
    word,
    say: (text) => {
      status.textContent = text;
    },
  };

  /** `isInstead`: of the settings, which could not be loaded. */
  function ask(isInstead?: boolean): void {
    show('banner', (notice, decided) => banner(notice, decided, consent() ? close : open), isInstead);
  }

  async function open(): Promise<void> {
    let found = file;
    if (!found) {
      if (frame.ariaBusy) return;
      frame.ariaBusy = 'true';
      // the file's script runs below the host
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

  function show(name: ViewName, content: Content, isInstead?: boolean): void {
    stay(true);
    isModal = name === 'preferences';
    if (isModal) shadow.adoptedStyleSheets = rules();
    showAgain = () => show(name, content, isInstead);
    const focused = focusedIn(shadow);
    if (!dialog.open) focusedBefore = focused;
    const notice = noticeFor(isInstead);
    let shown: Shown | undefined;
    dialog.close();
    dialog.className = `${name} ${settings.position ?? ''}`;
    dialog.replaceChildren();
    add(dialog, [content(notice, (choice) => decide(choice, name, notice, shown))]);
    corner.hidden = true;
    if (isModal) dialog.showModal();
    // not by its method, which moves the keyboard
    else dialog.open = true;
    // a visitor who is typing keeps the focus, and in a frame one may be
    if (isModal || !focused?.matches(':read-write,select,iframe'))
      ((!isInstead && dialog.querySelector<HTMLElement>('.first')) || dialog).focus({ preventScroll: true });
    shown = onShow(notice);
  }

  function noticeFor(isInstead?: boolean): Notice {
    const notice = noticeOf(settings, gpc, isGiven(consent()));
    settings.adapt?.(notice);
    const { texts } = settings.wording;
    if (isInstead) notice.note = texts.noSettings;
    if (consent() && !isModal) notice.buttons = [texts.accept, notice.settings.buttons[1] ?? '', texts.close];
    return notice;
  }

  function word(): void {
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
  // fields in a form can take the places of its methods
  let focused = active instanceof HTMLFormElement ? null : active;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused;
}
