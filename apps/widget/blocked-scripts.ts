/** `<script type="text/plain" data-assent="marketing">`: runs once all the categories that it names are allowed. */
const blocked = 'script[type="text/plain"][data-assent]';

/** Milliseconds: a page that grows without end is searched no more often. */
const pause = 50;

/** Gives back what runs what is allowed now, in the order of the page; call it again when more is. */
export function createScripts(isAllowed: (category: string) => boolean): () => Promise<void> {
  const begun = new Set<HTMLScriptElement>();
  let isRunning = false;

  const next = () =>
    [...document.querySelectorAll<HTMLScriptElement>(blocked)].find(
      (script) => !begun.has(script) && script.dataset.assent?.split(/[\s,]+/).every(isAllowed),
    );

  return async () => {
    if (isRunning) return;
    isRunning = true;
    // searched each time: one may change what is there and what is allowed
    for (let script = next(); script; script = next()) {
      begun.add(script);
      await run(script).catch(reportError);
    }
    isRunning = false;
  };
}

/** Calls `work` now and whenever the page has grown. */
export function onGrowth(work: () => void): void {
  let isPlanned = false;
  const begin = () => {
    isPlanned = false;
    work();
  };
  begin();
  new MutationObserver(() => {
    if (!isPlanned) setTimeout(begin, pause);
    isPlanned = true;
  }).observe(document.documentElement, { childList: true, subtree: true });
}

/** A script that was parsed as text never runs: a new one takes its place. Ends when the next one may run. */
async function run(script: HTMLScriptElement): Promise<void> {
  const running = document.createElement('script');
  for (const { name, value } of script.attributes) if (name !== 'type') running.setAttribute(name, value);
  running.type = script.dataset.type ?? '';
  // browsers hide the nonce's attribute
  running.nonce = script.nonce;
  running.text = script.text;
  running.async = script.hasAttribute('async');
  // only these hold up a page's later scripts, and others may never tell that they have loaded
  const isAwaited = running.src && !running.async && !running.noModule && /^$|javascript/.test(running.type);
  const end = new Promise((resolve) => {
    running.onload = running.onerror = resolve;
  });
  script.replaceWith(running);
  if (isAwaited) await end;
}
