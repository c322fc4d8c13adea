/**
 * Entry of the page that shows the widget while it is being set up: the very /widget.js, with the settings that the
 * dashboard sends. The page is sandboxed and its policy lets nothing out, so that nothing is stored or recorded.
 */
import { type PreviewOrder, type PreviewShown, previewReady } from '#libs/widget/preview';
import type {} from '../public-api.ts';
import type {} from '../settings.ts';

leaveFocus();
// of all that the widget asks for, texts are here; it would only try the rest again and again
window.fetch = async (address) => {
  if (/\/texts-\w+\/[\w-]+\.json$/.test(String(address))) return new Response(JSON.stringify(shown?.texts));
  return String(address).endsWith('/place') ? new Response(JSON.stringify(shown?.place)) : new Promise<never>(() => {});
};

let tag: HTMLScriptElement | undefined;
let shown: PreviewOrder | undefined;
// as it is ordered, whatever this browser sends
Object.defineProperty(navigator, 'globalPrivacyControl', { get: () => shown?.hasSignal === true });
// a sandboxed page has none, and an error for whoever asks
Object.defineProperty(document, 'cookie', { get: () => '', set: () => {} });

function show(order: PreviewOrder): void {
  const { config, view, isDark } = order;
  shown = order;
  document.documentElement.classList.toggle('dark', isDark);
  document.querySelector('assent-widget')?.remove();
  tag?.remove();
  delete window.assent;
  window.assentConfig = config;
  tag = document.createElement('script');
  // none of them is anybody's
  Object.assign(tag.dataset, { domain: 'dom_preview', key: 'ak_preview' });
  tag.addEventListener('load', () => {
    const tree = document.querySelector('assent-widget')?.shadowRoot;
    const isOfSettings = view === 'preferences';
    const keepStill = () => {
      for (const sheet of isOfSettings ? [still, unseen] : [still])
        if (tree && !tree.adoptedStyleSheets.includes(sheet)) tree.adoptedStyleSheets.push(sheet);
    };
    keepStill();
    // the widget has others once the file of the settings is there
    if (tree) new MutationObserver(keepStill).observe(tree, { attributes: true, subtree: true });
    const dialog = tree?.querySelector('dialog');
    if (dialog) new ResizeObserver(() => dialog.open && tell(dialog)).observe(dialog);
    if (isOfSettings) window.assent?.open();
  });
  // beside this page, wherever the service is
  tag.src = 'widget.js';
  document.head.append(tag);
}

function tell(dialog: HTMLElement): void {
  const told: PreviewShown = { above: dialog.getBoundingClientRect().top };
  parent.postMessage(told, location.origin);
}

/** It is shown anew with each key that somebody types. */
const still = new CSSStyleSheet();
still.replaceSync('dialog[open] { animation: none; }');
/** The first view, while the file of the settings comes. */
const unseen = new CSSStyleSheet();
unseen.replaceSync('dialog.banner { animation: late 0.4s step-end; } @keyframes late { from { opacity: 0; } }');

addEventListener('message', ({ source, origin, data }: MessageEvent<PreviewOrder>) => {
  if (source === parent && origin === location.origin) show(data);
});
// links of the banner would lead out of the sketch
const leadNowhere = (event: Event) => {
  if (event.composedPath().some((each) => each instanceof HTMLAnchorElement)) event.preventDefault();
};
// before the widget, which keeps its clicks from the page
addEventListener('click', leadNowhere, true);
parent.postMessage(previewReady, location.origin);

/**
 * The widget takes the focus when it opens, and its dialogs keep it. Somebody who types in the dashboard must not lose it,
 * and somebody who has come into the frame must get out of it.
 */
function leaveFocus(): void {
  addEventListener('keydown', (event) => event.key === 'Tab' && event.stopImmediatePropagation(), true);
  const { focus } = HTMLElement.prototype;
  HTMLElement.prototype.focus = function (this: HTMLElement, options) {
    if (document.hasFocus()) focus.call(this, options);
  };
  const { showModal } = HTMLDialogElement.prototype;
  // a modal dialog takes it by itself, unless it is inert
  HTMLDialogElement.prototype.showModal = function (this: HTMLDialogElement) {
    this.inert = !document.hasFocus();
    showModal.call(this);
    this.inert = false;
  };
}
