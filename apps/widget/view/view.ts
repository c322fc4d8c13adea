/** The widget in the page. A shadow tree keeps the styles of both apart. */
import { type Notice, noticeOf } from '#libs/widget/notice';
import { bare, has, map, words } from '#libs/widget/plain';
import { type Choice, type Consent, isGiven } from '../consent.ts';
import { page } from '../page.ts';
import type { SecondFile } from '../preferences.ts';
import { openSecondFile } from '../second-file.ts';
import type { Settings } from '../settings.ts';
import { banner } from './banner.ts';
import { add, type Children, element, icon } from './element.ts';
import { colour, styles } from './styles.ts';
import { isDark, media } from './theme.ts';
import { isInert, rise } from './top-layer.ts';
import css from './widget.css?inline';

type Source = 'banner' | 'preferences';
type Content = (notice: Notice, decided: (choice: Choice) => void) => Children;

interface ViewOptions {
  settings: Settings;
  gpc: boolean;
  /** the current choice; empty where nothing is asked */
  consent(): Partial<Consent> | null | undefined;
  /** what the visitor saw when making it */
  seen(): string;
  /** A view has opened, which shows this. */
  onShow(notice: Notice): void;
  onSecond(file: SecondFile): void;
  decide(choice: Choice, source: Source, notice: Notice): void;
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
  show(source: Source, view: Content): void;
  /** in the page, with the shadow tree */
  host: HTMLElement;
  /** the second file */
  load: ReturnType<typeof openSecondFile>;
}

export function createView({ settings, gpc, consent, seen, onShow, onSecond, decide, onPage }: ViewOptions): View {
  const shield = 'M12 3l8 3v5c0 5-3 8-8 10-5-2-8-5-8-10V6zM9 12l2 2 4-4';
  const dialog = element('dialog', { tabindex: '-1', 'aria-labelledby': 'title', 'aria-describedby': 'intro' });
  const reopen = element('button', { class: `reopen ${settings.button ?? 'left'}`, click: open }, icon(shield));
  const corner = element('section', { hidden: true }, reopen);
  const status = element('p', { role: 'status', class: 'unseen' });
  const frame = element('div', { role: 'none' }, corner, dialog, status);

  const sheets = [styles(css)];
  const frames: HTMLElement[] = [];
  const paint = () => {
    const dark = isDark(settings.theme ?? 'auto');
    map(frames, (each) => {
      each.classList.toggle('dark', dark);
      colour(each, settings.darkColors, !dark);
    });
  };
  media.onchange = paint;

  let file: SecondFile | undefined;
  /** Those of the second file from the first time that something is shown which needs them: most visitors never see that. */
  const rules = (): CSSStyleSheet[] => {
    if (file) sheets[1] ??= styles(file.css);
    return sheets;
  };

  function dress(tag: 'assent-widget' | 'assent-embed', content: HTMLElement): HTMLElement {
    const made = page.createElement(tag);
    const tree = made.attachShadow({ mode: 'open' });
    colour(made, settings.colors);
    tree.adoptedStyleSheets = rules();
    tree.append(content);
    frames[frames.length] = content;
    // the widget itself is painted once it is in the page
    if (file) paint();
    return made;
  }
  const host = dress('assent-widget', frame);
  const shadow = host.shadowRoot as ShadowRoot;
  const load = openSecondFile(settings, host, (arrived) => {
    file = arrived;
    arrived.makeRoom(dialog, leave, () => isInert(frame));
    onSecond(arrived);
  });

  /** What had the focus before. */
  let before: Element | null = null;
  let body: HTMLElement | null = null;
  let isModal = false;
  /** Shows again what was shown last. */
  let again = (): void => {};

  const look = () => {
    paint();
    onPage();
  };

  function attach(): void {
    // not in the body, which sites move, scale and replace
    page.documentElement.append(host);
    body = page.body;
    look();
    // a page may change its scheme by a class
    new MutationObserver(look).observe(page.documentElement, bare({ attributes: true }));
    // away from the document a dialog is modal no longer
    if (dialog.open && isModal) {
      dialog.close();
      dialog.showModal();
    }
  }

  const climb = () => rise(frame);

  function stay(): void {
    if (host.isConnected) body = page.body;
    // a page that takes out this element alone means it
    else if (page.documentElement && (host.parentNode || body !== page.body)) attach();
    climb();
    // each time, since `document.open` removes all listeners
    map(words('focusin pointerdown mousedown touchstart keydown keyup click'), (type) =>
      addEventListener(type, hear, true),
    );
    // the back gesture of a phone
    dialog.oncancel = goBack;
    // a modal dialog of the page
    addEventListener('close', climb, true);
  }

  /** `isInstead`: of the settings, which could not be loaded. */
  function show(source: Source, view: Content, isInstead?: boolean): void {
    if (!host.isConnected) attach();
    climb();
    isModal = source === 'preferences';
    if (isModal) shadow.adoptedStyleSheets = rules();
    again = () => show(source, view, isInstead);
    const notice = noticeOf(settings, gpc, isGiven(consent()));
    settings.adapt?.(notice);
    const { texts } = settings.wording;
    if (isInstead) notice.note = texts.noSettings;
    if (consent() && !isModal) notice.buttons = [texts.accept, notice.settings.buttons[1] ?? '', texts.close];
    const active = shadow.activeElement ?? page.activeElement;
    // fields in a form can take the places of its methods
    let focused = active instanceof HTMLFormElement ? null : active;
    while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    if (!dialog.open) before = focused;
    dialog.close();
    dialog.className = `${source} ${settings.position ?? ''}`;
    dialog.replaceChildren();
    add(dialog, [view(notice, (choice) => decide(choice, source, notice))]);
    corner.hidden = true;
    if (isModal) dialog.showModal();
    // not by its method, which moves the keyboard
    else dialog.open = true;
    // a visitor who is typing keeps the focus, and in a frame one may be
    if (isModal || !focused?.matches(':read-write,select,iframe'))
      ((!isInstead && dialog.querySelector<HTMLElement>('.first')) || dialog).focus({ preventScroll: true });
    onShow(notice);
  }

  const ask = (isInstead?: boolean): void =>
    show(
      'banner',
      (notice, decided) => banner(notice, { decide: decided, third: consent() ? close : open }),
      isInstead,
    );

  function word(): void {
    const { texts, language, direction } = settings.wording;
    paint();
    frame.lang = language;
    frame.dir = direction;
    map([corner, reopen], (named) => named.setAttribute('aria-label', texts.settings));
    if (!dialog.open) return;
    if (file) file.renew(dialog, again);
    else again();
  }

  function open(): void {
    if (file) settle(file);
    else if (!frame.ariaBusy) void fetchAndOpen();
  }

  async function fetchAndOpen(): Promise<void> {
    frame.ariaBusy = 'true';
    // the file comes by way of the page
    if (!host.isConnected) attach();
    const wasOpen = dialog.open;
    const found = await load();
    frame.ariaBusy = null;
    // the visitor may have decided meanwhile
    if (dialog.open !== wasOpen) return;
    if (found) settle(found);
    else {
      ask(true);
      status.textContent = settings.wording.texts.noSettings;
    }
  }

  function settle({ preferences }: SecondFile): void {
    show('preferences', (notice, decided) =>
      preferences(notice, settings.wording.texts, consent(), seen(), { decide: decided, close: leave }),
    );
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
    if (wasOpen && before instanceof HTMLElement) before.focus({ preventScroll: true });
  }

  function goBack(event: Event): void {
    event.preventDefault();
    leave();
  }
  /** Before the page does: a dialog of its own may keep the focus, and stop whatever happens outside it. */
  const hear = (event: Event) => {
    const path = event.composedPath();
    if (has(path, host)) {
      event.stopImmediatePropagation();
      if (event.type === 'keydown' && (event as KeyboardEvent).key === 'Escape' && dialog.open) goBack(event);
    }
    // markup can name a member, too
    if (event.type === 'click')
      map(path, ({ assentClick }) => (typeof assentClick === 'function' ? assentClick : undefined))[0]?.();
  };

  attach();
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
}
