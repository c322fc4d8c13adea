/**
 * Entry of the page that previews the widget: it loads /widget.js itself, with the settings that the dashboard sends. The
 * page is sandboxed and its policy blocks all requests, so that nothing is stored or recorded.
 */
import { type PreviewRequest, type PreviewShown, previewReady } from '#libs/widget/preview';
import type {} from '../public-api.ts';
import type {} from '../settings.ts';

leaveFocus();
// Texts and the place are taken from the order. Any other request stays unanswered, because the widget would retry one that
// fails.
window.fetch = async (address) => {
  if (/\/texts-\w+\/[\w-]+\.json$/.test(String(address))) return new Response(JSON.stringify(shown?.texts));
  return String(address).endsWith('/place') ? new Response(JSON.stringify(shown?.place)) : new Promise<never>(() => {});
};

let tag: HTMLScriptElement | undefined;
let shown: PreviewRequest | undefined;
// the order says whether the signal is on, not this browser
Object.defineProperty(navigator, 'globalPrivacyControl', { get: () => shown?.hasSignal === true });
// in a sandboxed page, reading cookies throws
Object.defineProperty(document, 'cookie', { get: () => '', set: () => {} });

function show(order: PreviewRequest): void {
  const { config, view, isDark } = order;
  shown = order;
  document.documentElement.classList.toggle('dark', isDark);
  document.querySelector('assent-widget')?.remove();
  tag?.remove();
  delete window.assent;
  window.assentConfig = config;
  tag = document.createElement('script');
  // no domain and no key has these ids
  Object.assign(tag.dataset, { domain: 'dom_preview', key: 'ak_preview' });
  tag.addEventListener('load', () => {
    const tree = document.querySelector('assent-widget')?.shadowRoot;
    const isOfSettings = view === 'preferences';
    const keepStill = () => {
      for (const sheet of isOfSettings ? [still, unseen] : [still])
        if (tree && !tree.adoptedStyleSheets.includes(sheet)) tree.adoptedStyleSheets.push(sheet);
    };
    keepStill();
    // the widget replaces its sheets once the second file is there
    if (tree) new MutationObserver(keepStill).observe(tree, { attributes: true, subtree: true });
    const dialog = tree?.querySelector('dialog');
    if (dialog) new ResizeObserver(() => dialog.open && reportSize(dialog)).observe(dialog);
    if (isOfSettings) window.assent?.open();
  });
  // a relative address, since the service may be below a path
  tag.src = 'widget.js';
  document.head.append(tag);
}

function reportSize(dialog: HTMLElement): void {
  const size: PreviewShown = { above: dialog.getBoundingClientRect().top };
  parent.postMessage(size, location.origin);
}

/** The preview is redrawn with each keystroke, so nothing is animated. */
const still = new CSSStyleSheet();
still.replaceSync('dialog[open] { animation: none; }');
/** Hides the first view while the second file loads. */
const unseen = new CSSStyleSheet();
unseen.replaceSync('dialog.banner { animation: late 0.4s step-end; } @keyframes late { from { opacity: 0; } }');

addEventListener('message', ({ source, origin, data }: MessageEvent<PreviewRequest>) => {
  if (source === parent && origin === location.origin) show(data);
});
// links of the banner would leave the preview
const leadNowhere = (event: Event) => {
  if (event.composedPath().some((each) => each instanceof HTMLAnchorElement)) event.preventDefault();
};
// added before the widget's listener, which stops clicks
addEventListener('click', leadNowhere, true);
parent.postMessage(previewReady, location.origin);

/**
 * The widget takes the focus when it opens, and its dialogs keep it. A person who types in the dashboard must not lose it,
 * and one whose focus is in the frame must be able to leave it.
 */
function leaveFocus(): void {
  addEventListener('keydown', (event) => event.key === 'Tab' && event.stopImmediatePropagation(), true);
  const { focus } = HTMLElement.prototype;
  HTMLElement.prototype.focus = function (this: HTMLElement, options) {
    if (document.hasFocus()) focus.call(this, options);
  };
  const { showModal } = HTMLDialogElement.prototype;
  // a modal dialog takes the focus by itself, unless it is inert
  HTMLDialogElement.prototype.showModal = function (this: HTMLDialogElement) {
    this.inert = !document.hasFocus();
    showModal.call(this);
    this.inert = false;
  };
}
