/** In place of each iframe that waits, a box of its size in which the visitor can allow it. */
import { furtherPhrases } from '#libs/widget/texts';
import { load, type Waiting } from './embeds.ts';
import type { Shown } from './hash-notice.ts';
import { type Notice, noticeOf } from './notice.ts';
import { has, some } from './plain.ts';
import type { Settings } from './settings.ts';
import { copyPlace, placeholder } from './view/placeholder.ts';
import type { View } from './view/view.ts';
import { fill } from './wording.ts';

export type PlaceholderNotice = Pick<
  Notice,
  'title' | 'intro' | 'note' | 'links' | 'buttons' | 'language' | 'version' | 'policyVersion' | 'variant'
>;

interface PlaceholderOptions {
  settings: Settings;
  dress: View['dress'];
  /** A placeholder shows this. */
  onShow(notice: PlaceholderNotice): Shown;
  /** The visitor allows these for good. */
  allow(categories: string[], notice: PlaceholderNotice, shown: Shown): void;
}

interface Place {
  element: HTMLElement;
  /** what its own style says of that */
  display: string;
  host: HTMLElement;
  box: HTMLElement;
}

/** Milliseconds in which the second of two quick presses does not reach what the first one has brought. */
const doubleTap = 500;

export function createPlaceholders({ settings, dress, onShow, allow }: PlaceholderOptions) {
  let places: Place[] = [];

  /** Also after a script of the page has moved an iframe, or taken it out. */
  function show(waiting: Waiting[]): void {
    for (const place of places) if (!waiting.some(({ element }) => element === place.element)) leave(place);
    waiting.forEach(hold);
  }

  function hold(waits: Waiting): void {
    const { element } = waits;
    let place = places.find((each) => each.element === element);
    if (!place) {
      const { display, width } = getComputedStyle(element);
      // what nobody is to see, such as a pixel that counts visits
      if (display === 'none' || /^\d(\.|p)/.test(width)) return;
      place = { element, display: element.style.display, ...make(waits) };
      place.box.style.display = display.startsWith('inline') ? 'inline-grid' : 'grid';
      places.push(place);
      element.style.setProperty('display', 'none', 'important');
    }
    if (place.host.nextSibling !== element) element.before(place.host);
    copyPlace(element, place.box);
  }

  function make({ element, address, refused }: Waiting): Pick<Place, 'host' | 'box'> {
    const notice = noticeFor(
      settings,
      element.dataset.assentService || element.title || new URL(address).host,
      refused,
    );
    const shown = onShow(notice);
    const once = () => {
      load(element, address);
      for (const place of places) if (place.element === element) leave(place);
    };
    const box = placeholder(notice, settings.wording.direction, [once, () => allow(refused, notice, shown)]);
    return { box, host: dress('assent-embed', box) };
  }

  function leave(place: Place): void {
    const { element, host, display } = place;
    const hadFocus = host.shadowRoot?.activeElement;
    places = places.filter((each) => each !== place);
    host.remove();
    element.style.display = display;
    element.animate({ pointerEvents: ['none', 'none'] }, doubleTap);
    if (hadFocus) element.focus({ preventScroll: true });
  }

  // a size may depend on that of the page
  addEventListener('resize', () => {
    for (const { element, box } of places) copyPlace(element, box);
  });
  return {
    show,
    /** They come back in the visitor's language with the next `show`. */
    clear: () => places.forEach(leave),
  };
}

function noticeFor(settings: Settings, service: string, refused: string[]): PlaceholderNotice {
  const notice = noticeOf(settings, false, null);
  const { links, language, version, policyVersion, variant } = notice;
  const texts = { ...furtherPhrases, ...settings.wording.texts };
  const labels = notice.settings.categories.filter(({ id }) => refused.includes(id)).map(({ label }) => label);
  const category = (labels.length > 0 ? labels : refused).join(' · ');
  // what the banner does not ask for cannot be allowed for good
  const isAsked = !some(refused, (each) => !has(settings.asked, each));
  return {
    title: service,
    intro: fill(texts.embedText, { category }),
    note: undefined,
    links,
    buttons: [texts.showOnce, ...(isAsked ? [fill(texts.alwaysAllow, { category })] : [])],
    language,
    version,
    policyVersion,
    ...(variant && { variant }),
  };
}
