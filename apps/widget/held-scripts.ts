/** `<script type="text/plain" data-assent="marketing">`: runs once all of its categories are allowed. */
import { orElse } from '#libs/widget/attempt';
import { join, map, own, some, words } from '#libs/widget/tamper-proof';
import { page } from './page.ts';
import { find } from './page-elements.ts';
import type { SecondFile } from './preferences.ts';
import { trusted } from './trusted.ts';

const held = 'script[type="text/plain"][data-assent]';

/** Returns a function that runs the allowed scripts in page order. Call it whenever more are allowed. */
export function createScripts(
  isAllowed: (category: string) => boolean,
  nonce: string,
  load: () => Promise<SecondFile | undefined>,
): () => Promise<void> {
  const begun: { script: HTMLScriptElement; root: HTMLElement; text: string }[] = [];
  /**
   * The root element whose scripts are being run; undefined while none are. If the page replaces it while an external
   * script loads, that script never fires an event, so the next call starts over in the new root.
   */
  let home: HTMLElement | undefined;

  const next = () =>
    map(find<HTMLScriptElement>(held, nonce), (script) => {
      const needed = words(script.dataset.assent ?? '');
      const isHeld = !needed[0] || some(needed, (category) => !isAllowed(category));
      // a page that replaces its document may create a script again that has already run; its text identifies it
      const hasBegun = (each: (typeof begun)[number]) =>
        each.script === script || (each.root !== page.documentElement && each.text === script.outerHTML);
      return isHeld || some(begun, hasBegun) ? undefined : script;
    })[0];

  /** Replaces the script by a new one, since one parsed as text never runs. Resolves when the next one may run. */
  async function run(script: HTMLScriptElement, type: string): Promise<void> {
    const running = page.createElement('script');
    map(script.attributes, ({ name, value }) => {
      if (name !== 'type') running.setAttribute(name, trusted(value));
    });
    running.type = type;
    // browsers hide the nonce attribute
    running.nonce = script.nonce;
    running.text = trusted(script.text, 'createScript');
    running.async = script.hasAttribute('async');
    const html = writtenBy(() => script.replaceWith(running));
    // only these block later scripts; the others may never fire `load`
    if (running.src && !running.async && !running.noModule && /^$|javascript/.test(running.type))
      await new Promise((resolve) => {
        running.onload = running.onerror = resolve;
      });
    if (html) await (await load())?.insertDocumentWrites(html, running, run, trusted);
  }

  return async () => {
    const { documentElement } = page;
    if (home === documentElement) return;
    home = documentElement;
    try {
      // each script may change the page and the choice, so every time the page is searched again
      for (let script = next(); script; script = next()) {
        begun[begun.length] = { script, root: page.documentElement, text: script.outerHTML };
        try {
          await run(script, own(script.dataset).type ?? '');
        } catch (error) {
          reportError(error);
        }
      }
    } finally {
      home = undefined;
    }
  };
}

/** Returns what `work` writes by `document.write`, which would replace the page once it has been parsed. */
function writtenBy(work: () => void): string {
  let html = '';
  const members = document as unknown as Record<string, unknown>;
  const names = words('write writeln open close');
  const before = map(names, (name) => members[name]);
  const put = (name: string) =>
    name[0] === 'w'
      ? (...texts: string[]) => {
          html += join(texts, '') + (name[5] ? '\n' : '');
        }
      : () => document;
  map(names, (name) =>
    orElse(() => {
      members[name] = put(name);
    }),
  );
  try {
    work();
  } finally {
    map(names, (name, index) =>
      orElse(() => {
        delete members[name];
        // the page had overridden it
        if (members[name] !== before[index]) members[name] = before[index];
      }),
    );
  }
  return html;
}
