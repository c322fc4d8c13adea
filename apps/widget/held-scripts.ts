/** `<script type="text/plain" data-assent="marketing">`: runs once all of its categories are allowed. */
import { either } from './attempt.ts';
import { find } from './growth.ts';
import { page } from './page.ts';
import { map, own, some, words } from './plain.ts';
import type { SecondFile } from './preferences.ts';
import { trusted } from './trusted.ts';

const held = 'script[type="text/plain"][data-assent]';

/** Returns a function that runs the allowed scripts in page order. Call it again when more are allowed. */
export function createScripts(
  isAllowed: (category: string) => boolean,
  nonce: string,
  load: () => Promise<SecondFile | undefined>,
): () => Promise<void> {
  const begun: { script: HTMLScriptElement; root: HTMLElement; text: string }[] = [];
  /** The page that scripts run in. Once it is replaced, an external script that was on its way never reports back. */
  let home: HTMLElement | undefined;

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
    const { documentElement } = page;
    if (home === documentElement) return;
    home = documentElement;
    try {
      // searched anew each time: a script may change the page and the choice
      for (let script = next(); script; script = next()) {
        const { text } = script;
        // the browser has read the page: its own `document.write` would replace all of it
        const file = either(() => /\bwrite/.test(text), true) ? await load() : undefined;
        // the visitor may have refused meanwhile
        if (next() !== script) continue;
        begun[begun.length] = { script, root: page.documentElement, text: script.outerHTML };
        try {
          await run(script, file);
        } catch (error) {
          reportError(error);
        }
      }
    } finally {
      home = undefined;
    }
  };
}

/** Replaces the script by a new one, since one parsed as text never runs. Resolves when the next one may run. */
async function run(script: HTMLScriptElement, file: SecondFile | undefined): Promise<void> {
  const running = page.createElement('script');
  map(script.attributes, ({ name, value }) => {
    if (name !== 'type') running.setAttribute(name, trusted(value));
  });
  running.type = own(script.dataset).type ?? '';
  // browsers hide the nonce attribute
  running.nonce = script.nonce;
  running.text = trusted(script.text, 'createScript');
  running.async = script.hasAttribute('async');
  const begin = () => script.replaceWith(running);
  if (file) file.insertWritten(begin, running, trusted);
  else begin();
  // only these block later scripts on a page; others may never fire `load`
  if (running.src && !running.async && !running.noModule && /^$|javascript/.test(running.type))
    await new Promise((resolve) => {
      running.onload = running.onerror = resolve;
    });
}
