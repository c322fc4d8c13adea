/** What a held script writes into the page by `document.write`, which by then would replace the page. */
import { either } from './attempt.ts';
import { page } from './page.ts';
import { between, own } from './plain.ts';
import type { trusted } from './trusted.ts';

/** Runs the script by `begin`, and inserts what it writes after it. */
export function insertWritten(begin: () => void, script: HTMLScriptElement, trust: typeof trusted): void {
  let html = writtenBy(begin);
  let last: ChildNode | null = script;
  while (html && page.body) {
    const range = page.createRange();
    // scripts take themselves out
    const place: ChildNode = last?.isConnected ? last : page.body.appendChild(page.createTextNode(''));
    range.selectNode(place);
    const written = range.createContextualFragment(trust(html, 'createHTML'));
    last = written.lastChild;
    // scripts in it run, and may write, too
    html = writtenBy(() => place.after(written));
  }
}

function writtenBy(work: () => void): string {
  let html = '';
  const write = (...texts: string[]) => {
    html += between(texts, '');
  };
  const writers = own<unknown>({
    write,
    writeln: (...texts: string[]) => write(between(texts, ''), '\n'),
    open: () => document,
    close: () => {},
  });
  const before = own<unknown>({});
  const members = document as unknown as typeof writers;
  for (const name in writers)
    either(() => {
      before[name] = members[name];
      members[name] = writers[name];
    });
  try {
    work();
  } finally {
    for (const name in writers)
      either(() => {
        delete members[name];
        // the page has one of its own
        if (members[name] !== before[name]) members[name] = before[name];
      });
  }
  return html;
}
