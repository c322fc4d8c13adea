/** `<script type="text/plain" data-assent="marketing">`: runs once all of its categories are allowed. */
import { page } from './page.ts';

const blocked = 'script[type="text/plain"][data-assent]';

/** Milliseconds between two searches of a page that keeps growing. */
const pause = 50;

/** Returns a function that runs the allowed scripts in page order. Call it again when more are allowed. */
export function createScripts(isAllowed: (category: string) => boolean): () => Promise<void> {
  const begun = new Set<HTMLScriptElement>();
  let isRunning = false;

  const next = () =>
    [...page.querySelectorAll<HTMLScriptElement>(blocked)].find(
      (script) => !begun.has(script) && script.dataset.assent?.split(/[\s,]+/).every(isAllowed),
    );

  return async () => {
    if (isRunning) return;
    isRunning = true;
    // searched anew each time: a script may change the page and the choice
    for (let script = next(); script; script = next()) {
      begun.add(script);
      await run(script).catch(reportError);
    }
    isRunning = false;
  };
}

/** Calls `work` now and whenever elements are added to the page. */
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
  }).observe(page.documentElement, { childList: true, subtree: true });
}

/** Replaces the script by a new one, since one parsed as text never runs. Resolves when the next one may run. */
async function run(script: HTMLScriptElement): Promise<void> {
  const running = page.createElement('script');
  for (const { name, value } of script.attributes) if (name !== 'type') running.setAttribute(name, value);
  running.type = script.dataset.type ?? '';
  // browsers hide the nonce attribute
  running.nonce = script.nonce;
  running.text = script.text;
  running.async = script.hasAttribute('async');
  // only these block later scripts on a page; others may never fire `load`
  const isAwaited = running.src && !running.async && !running.noModule && /^$|javascript/.test(running.type);
  const end = new Promise((resolve) => {
    running.onload = running.onerror = resolve;
  });
  script.replaceWith(running);
  if (isAwaited) await end;
}
