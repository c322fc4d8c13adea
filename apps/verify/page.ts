/** The page's elements and their content. Everything from a file is inserted as text. */
import { createElement, render } from 'preact';
import type { Verified, VerifiedCheckpoint } from '#libs/proof/tree/check-file';
import { checkpointFacts, type Fact, factsOf, headline, limits, opensslCommands } from '#libs/proof/tree/facts';
import type { Finding } from '#libs/proof/tree/recognize';
import { lineOf, summaryOf, type VisitorVerdict, visitorLimit, worstFirst } from '#libs/proof/tree/visitor-download';
import { NoticeDocument } from '../dashboard/parts/notice-document.tsx';

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
const notice = element('notice', HTMLElement);
const raw = element('raw', HTMLDetailsElement);
export const print = element('print', HTMLButtonElement);
const timestamp = element('timestamp', HTMLElement);
const commands = element('commands', HTMLElement);

export function showLimits(): void {
  element('limits', HTMLElement).replaceChildren(...[...limits, visitorLimit].map((text) => make('li', text)));
}

export function showFileError(why: string): void {
  fileError.textContent = visible(why);
}

export function showKeyError(why: string): void {
  keyError.textContent = visible(why);
  if (why) key.setAttribute('aria-invalid', 'true');
  else key.removeAttribute('aria-invalid');
}

/** Shows what is still missing. */
export function showWaiting(what: string): void {
  clear('verdict');
  verdictBox.textContent = what;
}

/** “Does not hold” is a verdict on a proof, so another file has a text of its own. */
export const showNoProof = (why: string): void => say('verdict', 'This is not a proof.', why);

export function showFinding(finding: Finding, name: string): void {
  if (finding.kind === 'visitor') showVisitor(finding.verdict);
  else if (!finding.verdict.holds) say('verdict bad', 'This proof does not hold.', finding.verdict.why);
  else if (finding.kind === 'checkpoint') showCheckpoint(finding.verdict);
  else showProof(finding.verdict, name);
}

function showVisitor(verdict: VisitorVerdict): void {
  const { holds, records } = verdict;
  const isFalse = records.some((record) => !record.holds && record.why !== null);
  const isOld = records.some((record) => 'without' in record && record.without === 'no bundles');
  const isAnybodys = records.some((record) => 'without' in record && record.without === 'no visitor');
  const unproven = isOld
    ? 'This download cannot be checked.'
    : isAnybodys
      ? 'Not every record can be shown to be this visitor’s.'
      : 'Not every record is sealed yet.';
  const words = holds ? 'Each record holds.' : isFalse ? 'Not every record holds.' : unproven;
  say(holds ? 'verdict good' : isFalse ? 'verdict bad' : 'verdict', words, summaryOf(verdict));
  showFacts(worstFirst(records).map((record) => [record.id, lineOf(record)]));
}

function showCheckpoint(verdict: VerifiedCheckpoint): void {
  say('verdict good', 'The checkpoint holds.', 'It is signed with this key.');
  showFacts(checkpointFacts(verdict));
}

function showProof({ notice: text, ...proven }: Verified, name: string): void {
  say('verdict good', 'The proof holds.', headline(proven));
  showFacts(factsOf(proven));
  notice.hidden = text === undefined;
  if (text !== undefined) render(createElement(NoticeDocument, { text }), element('document', HTMLElement));
  const texts = [proven.proven.entry, ...(text === undefined ? [] : [text])];
  const lines = texts.map(indented).join('\n\n').split('\n');
  element('json', HTMLElement).textContent = lines.map(visible).join('\n');
  raw.hidden = false;
  const checks = opensslCommands(proven, `'${name.replaceAll("'", "'\\''")}'`);
  commands.textContent = checks.join('\n');
  timestamp.hidden = checks.length === 0;
}

/** For reading only: the hash is of the file's own bytes. */
function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function say(className: string, words: string, more: string): void {
  clear(className);
  verdictBox.replaceChildren(make('strong', words), make('span', more));
}

function showFacts(rows: Fact[]): void {
  facts.replaceChildren(...rows.map(factRow));
  facts.hidden = false;
  print.hidden = false;
}

function clear(className: string): void {
  verdictBox.className = className;
  facts.replaceChildren();
  for (const part of [print, facts, notice, raw, timestamp]) part.hidden = true;
  raw.open = false;
}

function factRow([name, value]: Fact): HTMLElement {
  const row = document.createElement('div');
  row.className = 'fact';
  row.append(make('dt', name), make('dd', value));
  return row;
}

/** Shows invisible characters, and those that change the text's direction, as escapes. */
const visible = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu,
    (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`,
  );

function make(tag: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = visible(text);
  return made;
}
