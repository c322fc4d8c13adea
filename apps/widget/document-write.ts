/** Inserts what a held script has written. A real `document.write` after the page is parsed would replace the page. */
import { map } from '#libs/widget/tamper-proof';
import { page } from './page.ts';
import type { trusted } from './trusted.ts';

/** Inserts the markup after the script, and runs the scripts in it one after another, as a parser would. */
export async function insertDocumentWrites(
  html: string,
  script: HTMLScriptElement,
  run: (script: HTMLScriptElement, type: string) => Promise<void>,
  trust: typeof trusted,
): Promise<void> {
  const template = page.createElement('template');
  template.innerHTML = trust(html, 'createHTML');
  const { content } = template;
  const scripts = map(content.querySelectorAll('script'), (each) => each);
  // as with a parser, what a script in the head writes begins the body
  if (script.isConnected && script.parentNode !== page.head) script.after(content);
  else page.body.prepend(content);
  for (let index = 0; index < scripts.length; index += 1) {
    const written = scripts[index];
    if (written) await run(written, written.type);
  }
}
