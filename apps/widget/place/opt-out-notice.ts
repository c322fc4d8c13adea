/**
 * A notice beside the button, until the visitor closes it: that everything runs unless they object, or that their browser's
 * signal counts as an objection. It is no dialog and takes no focus; closing it is no decision.
 */
import { orElse } from '#libs/widget/attempt';
import { placeTexts } from '#libs/widget/place-notice';
import type { Wording } from '#libs/widget/wording';
import type { Settings } from '../settings.ts';
import { actions } from '../view/banner.ts';
import { element } from '../view/element.ts';
import { styles } from '../view/styles.ts';
import type { View } from '../view/view.ts';
import css from './opt-out-notice.css?inline';

type NoticeKind = 'opt_out' | 'honored';

/** Milliseconds after which a screen reader knows the element that a text is put into. */
const settling = 100;

/** Returns a function that shows a notice in place of the one before; without a kind, none. */
export function createOptOutNotice(settings: Settings, view: View): (kind: NoticeKind | undefined) => void {
  const { domain, policyVersion } = settings;
  const key = `assent.${domain}.told`;
  let closed: string | undefined;
  let shown: { kind: NoticeKind; wording: Wording; host: HTMLElement } | undefined;

  return (kind) => {
    const mark = `${kind === 'honored' ? 'gpc ' : ''}${policyVersion}`;
    const { wording } = settings;
    const tree = view.host.shadowRoot as ShadowRoot;
    const button = tree.querySelector('button');
    // the button opens the view in which visitors object
    for (const named of [button, button?.parentElement])
      named?.setAttribute('aria-label', placeTexts(wording.texts).choices);
    const wanted = kind && (closed ?? orElse(() => localStorage[key])) !== mark ? kind : undefined;
    if (shown?.kind === wanted && (!shown || shown.wording === wording)) return;
    shown?.host.remove();
    shown = undefined;
    if (!wanted) return;
    const close = () => {
      // without storage, the next page shows the notice again
      orElse(() => {
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
      wanted === 'opt_out' ? optOutNotice(settings, view.open, close) : honoredNotice(settings, close),
    );
    const { shadowRoot } = host;
    if (shadowRoot) shadowRoot.adoptedStyleSheets = [...shadowRoot.adoptedStyleSheets, styles(css)];
    button?.parentElement?.after(host);
    shown = { kind: wanted, wording, host };
  };
}

function optOutNotice(settings: Settings, open: () => void, close: () => void): HTMLElement {
  const texts = placeTexts(settings.wording.texts);
  const { policyUrl } = settings;
  const text = element('p', {}, texts.told);
  if (policyUrl) text.append(' ', element('a', { href: policyUrl }, texts.policy));
  return box(settings, text, actions([texts.choices, texts.close], [open, close]));
}

function honoredNotice(settings: Settings, close: () => void): HTMLElement {
  const texts = placeTexts(settings.wording.texts);
  const status = element('p', { role: 'status' });
  setTimeout(() => status.append(texts.honored), settling);
  const button = element('button', { class: 'x', 'aria-label': texts.close, click: close }, '×');
  return box(settings, element('div', { class: 'line' }, status, button));
}

function box({ button = 'left', wording }: Settings, ...content: HTMLElement[]): HTMLElement {
  return element('div', { class: `opt-out ${button}`, lang: wording.language, dir: wording.direction }, content);
}
