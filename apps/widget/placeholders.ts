/** Replaces each waiting iframe with a box of the same size, in which the visitor can allow it. */
import { fill } from '#libs/widget/fill';
import { noticeOf } from '#libs/widget/notice';
import { includes, join, map, own, slice, some } from '#libs/widget/tamper-proof';
import { furtherPhrases } from '#libs/widget/texts';
import type { Choice } from './consent.ts';
import { load, type Waiting } from './embeds.ts';
import type { Shown } from './hash-notice.ts';
import type { Settings } from './settings.ts';
import { copyPlace, type PlaceholderNotice, placeholder } from './view/placeholder.ts';
import { listIn } from './view/receipt.ts';

export interface PlaceholderOptions {
  settings: Settings;
  /** Puts content into an element that looks like the widget. */
  dress(tag: 'assent-embed', content: HTMLElement): HTMLElement;
  /** Called for each new placeholder, with the notice that it shows. */
  onShow(notice: PlaceholderNotice): Shown;
  isAllowed(category: string): boolean;
  decide(choice: Choice, source: 'preferences', notice: PlaceholderNotice, shown: Shown): void;
}

interface Replaced {
  element: HTMLElement;
  /** of its own style, to be restored */
  display: string;
  host: HTMLElement;
  box: HTMLElement;
}

/** Milliseconds in which the second press of a double tap does not reach the new content. */
const doubleTap = 500;

export function createPlaceholders({ settings, dress, onShow, isAllowed, decide }: PlaceholderOptions) {
  let replaced: Replaced[] = [];

  // an iframe's size may depend on the page's
  const resize = () => {
    map(replaced, ({ element, box }) => copyPlace(element, box));
  };

  /** To be called again whenever the page has changed: its scripts may move or remove iframes. */
  function show(waiting: Waiting[]): void {
    // each time, since `document.open` removes the listener
    addEventListener('resize', resize);
    map(replaced, (place) => {
      if (!some(waiting, ({ element }) => element === place.element)) leave(place);
    });
    map(waiting, hold);
  }

  function hold(waits: Waiting): void {
    const { element } = waits;
    let place = map(replaced, (each) => (each.element === element ? each : undefined))[0];
    if (!place) {
      const { display, width } = getComputedStyle(element);
      // invisible iframes, such as tracking pixels, get no placeholder
      if (display === 'none' || +slice(width, 0, width.length - 2) < 10) return;
      place = { element, display: element.style.display, ...make(waits) };
      place.box.style.display = slice(display, 0, 6) === 'inline' ? 'inline-grid' : 'grid';
      replaced[replaced.length] = place;
      element.style.setProperty('display', 'none', 'important');
    }
    if (place.host.nextSibling !== element) element.before(place.host);
    copyPlace(element, place.box);
  }

  function make({ element, address, refused }: Waiting): Pick<Replaced, 'host' | 'box'> {
    const notice = noticeFor(
      settings,
      own(element.dataset).assentService || element.title || new URL(address).host,
      refused,
    );
    const shown = onShow(notice);
    const once = () => {
      load(element, address);
      map(replaced, (place) => {
        if (place.element === element) leave(place);
      });
    };
    const always = () => {
      // the other categories stay as they are
      const choice = own<boolean>();
      map(settings.asked, (id) => {
        choice[id] = isAllowed(id) || includes(refused, id);
      });
      decide(choice, 'preferences', notice, shown);
    };
    const box = placeholder(notice, settings.wording.direction, [once, always]);
    return { box, host: dress('assent-embed', box) };
  }

  function leave(place: Replaced): void {
    const { element, host, display } = place;
    const hadFocus = host.shadowRoot?.activeElement;
    replaced = map(replaced, (each) => (each === place ? undefined : each));
    host.remove();
    element.style.display = display;
    element.animate({ pointerEvents: ['none', 'none'] }, doubleTap);
    if (hadFocus) element.focus({ preventScroll: true });
  }

  return {
    show,
    /** Removes all boxes; the next `show` creates them in the visitor's language. */
    clear: () => {
      map(replaced, leave);
    },
  };
}

function noticeFor(settings: Settings, service: string, refused: string[]): PlaceholderNotice {
  const notice = noticeOf(settings, false, false);
  const { links, language, version, policyVersion, variant } = notice;
  const texts = { ...furtherPhrases, ...settings.wording.texts };
  const labels = map(notice.settings.categories, ({ id, label }) => (includes(refused, id) ? label : undefined));
  const named = labels[0] ? labels : refused;
  // only categories that the banner asks for can be allowed permanently
  const isAsked = !some(refused, (each) => !includes(settings.asked, each));
  return {
    title: service,
    intro: fill(texts.embedText, { category: listIn(language, named) }),
    note: undefined,
    links,
    buttons: isAsked ? [texts.showOnce, fill(texts.alwaysAllow, { category: join(named, ' · ') })] : [texts.showOnce],
    language,
    version,
    policyVersion,
    ...(variant && { variant }),
  };
}
