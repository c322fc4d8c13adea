/** The page's elements, and what is shown in them. All that comes out of a file is put in as text. */
import type { Verdict } from '#libs/proof/tree/check-file';
import { factsOf, headline, limits, opensslCommands } from '#libs/proof/tree/facts';

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

export const file = element('file', HTMLInputElement);
export const key = element('key', HTMLTextAreaElement);
const fileError = element('file-error', HTMLElement);
const keyError = element('key-error', HTMLElement);
const verdictBox = element('verdict', HTMLElement);
const facts = element('facts', HTMLElement);
const timestamp = element('timestamp', HTMLElement);
const commands = element('commands', HTMLElement);

export function showLimits(): void {
  element('limits', HTMLElement).replaceChildren(...limits.map((text) => make('li', text)));
}

export function showFileError(why: string): void {
  fileError.textContent = why;
}

export function showKeyError(why: string): void {
  keyError.textContent = why;
  if (why) key.setAttribute('aria-invalid', 'true');
  else key.removeAttribute('aria-invalid');
}

/** What is still missing, while there is nothing to check. */
export function showWaiting(what: string): void {
  clear('verdict');
  verdictBox.textContent = what;
}

export function showVerdict(verdict: Verdict, name: string): void {
  if (!verdict.holds) {
    clear('verdict bad');
    verdictBox.replaceChildren(make('strong', 'This proof does not hold.'), make('span', verdict.why));
    return;
  }
  clear('verdict good');
  verdictBox.replaceChildren(make('strong', 'The proof holds.'), make('span', headline(verdict)));
  facts.replaceChildren(...factsOf(verdict).map(factRow));
  facts.hidden = false;
  const lines = opensslCommands(verdict, `'${name.replaceAll("'", "'\\''")}'`);
  commands.textContent = lines.join('\n');
  timestamp.hidden = lines.length === 0;
}

function clear(className: string): void {
  verdictBox.className = className;
  facts.replaceChildren();
  facts.hidden = true;
  timestamp.hidden = true;
}

function factRow([name, value]: [string, string]): HTMLElement {
  const row = document.createElement('div');
  row.className = 'fact';
  row.append(make('dt', name), make('dd', value));
  return row;
}

function make(tag: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}
