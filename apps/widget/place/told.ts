/**
 * What is told beside the button, until it is closed: that everything runs unless the visitor objects, or that their browser's
 * signal counts as an objection. It is no dialog and takes no focus; closing it is no decision.
 */
import { either } from '#libs/widget/attempt';
import { placeTexts } from '#libs/widget/place-notice';
import type { Wording } from '#libs/widget/wording';
import type { Settings } from '../settings.ts';
import { actions } from '../view/banner.ts';
import { element } from '../view/element.ts';
import { styles } from '../view/styles.ts';
import type { View } from '../view/view.ts';
import css from './told.css?inline';

type What = 'told' | 'honored';

/** Milliseconds after which a screen reader knows the element that a text is put into. */
const settling = 100;

/** Returns what shows one of them, or takes away what is shown. */
export function createTold(settings: Settings, view: View): (what: What | undefined) => void {
  const { domain, policyVersion } = settings;
  const key = `assent.${domain}.told`;
  let closed: string | undefined;
  let shown: { what: What; wording: Wording; host: HTMLElement } | undefined;

  return (what) => {
    const mark = `${what === 'honored' ? 'gpc ' : ''}${policyVersion}`;
    const { wording } = settings;
    const tree = view.host.shadowRoot as ShadowRoot;
    const button = tree.querySelector('button');
    // the button leads to where one objects
    for (const named of [button, button?.parentElement])
      named?.setAttribute('aria-label', placeTexts(wording.texts).choices);
    const wanted = what && (closed ?? either(() => localStorage[key])) !== mark ? what : undefined;
    if (shown?.what === wanted && (!shown || shown.wording === wording)) return;
    shown?.host.remove();
    shown = undefined;
    if (!wanted) return;
    const close = () => {
      // where the browser keeps nothing, it is told again on the next page
      either(() => {
        localStorage[key] = mark;
      });
      closed = mark;
      shown?.host.remove();
      shown = undefined;
      view.close();
      button?.focus({ preventScroll: true });
    };
    const host = view.dress(
      'assent-widget',
      wanted === 'told' ? notice(settings, view.open, close) : line(settings, close),
    );
    const { shadowRoot } = host;
    if (shadowRoot) shadowRoot.adoptedStyleSheets = [...shadowRoot.adoptedStyleSheets, styles(css)];
    button?.parentElement?.after(host);
    shown = { what: wanted, wording, host };
  };
}

function box({ button = 'left', wording }: Settings, ...content: HTMLElement[]): HTMLElement {
  return element('div', { class: `told ${button}`, lang: wording.language, dir: wording.direction }, content);
}

/** What the settings say, too, with the way there. */
function notice(settings: Settings, open: () => void, close: () => void): HTMLElement {
  const texts = placeTexts(settings.wording.texts);
  const { policyUrl } = settings;
  const text = element('p', {}, texts.told);
  if (policyUrl) text.append(' ', element('a', { href: policyUrl }, texts.policy));
  return box(settings, text, actions([texts.choices, texts.close], [open, close]));
}

function line(settings: Settings, close: () => void): HTMLElement {
  const texts = placeTexts(settings.wording.texts);
  const status = element('p', { role: 'status' });
  setTimeout(() => status.append(texts.honored), settling);
  const button = element('button', { class: 'x', 'aria-label': texts.close, click: close }, '×');
  return box(settings, element('div', { class: 'line' }, status, button));
}
