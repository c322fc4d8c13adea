/** `<script type="text/plain" data-assent="marketing">`: runs once all the categories that it names are allowed. */
const blocked = 'script[type="text/plain"][data-assent]';

/** Milliseconds: a page that grows without end is searched no more often. */
const pause = 50;

/** Runs what is allowed now; call it again when more is. */
export function runScripts(isAllowed: (category: string) => boolean): void {
  for (const script of document.querySelectorAll<HTMLScriptElement>(blocked)) {
    const { assent = '', type } = script.dataset;
    if (assent.split(/[\s,]+/).every(isAllowed)) run(script, type);
  }
}

/** The same, now and whenever the page has grown. */
export function runLaterScripts(isAllowed: (category: string) => boolean): void {
  let isPlanned = false;
  const run = () => {
    isPlanned = false;
    runScripts(isAllowed);
  };
  run();
  new MutationObserver(() => {
    if (!isPlanned) setTimeout(run, pause);
    isPlanned = true;
  }).observe(document.documentElement, { childList: true, subtree: true });
}

/** A script that was parsed as text never runs: a new one takes its place. */
function run(script: HTMLScriptElement, type: string | undefined): void {
  const running = document.createElement('script');
  for (const { name, value } of script.attributes) if (name !== 'type') running.setAttribute(name, value);
  if (type) running.type = type;
  // browsers hide the nonce's attribute
  running.nonce = script.nonce;
  running.text = script.text;
  // as written: in the order of the page, unless they ask otherwise
  running.async = script.hasAttribute('async');
  script.replaceWith(running);
}
