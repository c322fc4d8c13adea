/** `<script type="text/plain" data-assent="marketing">`: runs once all of its categories are allowed. */
import { find } from './growth.ts';
import { page } from './page.ts';
import { map, own, some, words } from './plain.ts';
import { trusted } from './trusted.ts';

const held = 'script[type="text/plain"][data-assent]';

/** Returns a function that runs the allowed scripts in page order. Call it again when more are allowed. */
export function createScripts(isAllowed: (category: string) => boolean, nonce: string): () => Promise<void> {
  const begun: { script: HTMLScriptElement; root: HTMLElement; text: string }[] = [];
  let isRunning = false;

  const next = () =>
    map(find<HTMLScriptElement>(held, nonce), (script) => {
      const needed = words(script.dataset.assent ?? '');
      const isHeld = !needed[0] || some(needed, (category) => !isAllowed(category));
      // a page that replaces its document makes anew what has run
      const hasBegun = (each: (typeof begun)[number]) =>
        each.script === script || (each.root !== page.documentElement && each.text === script.outerHTML);
      return isHeld || some(begun, hasBegun) ? undefined : script;
    })[0];

  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      // searched anew each time: a script may change the page and the choice
      for (let script = next(); script; script = next()) {
        begun[begun.length] = { script, root: page.documentElement, text: script.outerHTML };
        try {
          await run(script);
        } catch (error) {
          reportError(error);
        }
      }
    } finally {
      isRunning = false;
    }
  };
}

/** Replaces the script by a new one, since one parsed as text never runs. Resolves when the next one may run. */
async function run(script: HTMLScriptElement): Promise<void> {
  const running = page.createElement('script');
  map(script.attributes, ({ name, value }) => {
    if (name !== 'type') running.setAttribute(name, trusted(value));
  });
  running.type = own(script.dataset).type ?? '';
  // browsers hide the nonce attribute
  running.nonce = script.nonce;
  running.text = trusted(script.text, 'createScript');
  running.async = script.hasAttribute('async');
  script.replaceWith(running);
  // only these block later scripts on a page; others may never fire `load`
  if (running.src && !running.async && !running.noModule && /^$|javascript/.test(running.type))
    await new Promise((resolve) => {
      running.onload = running.onerror = resolve;
    });
}
