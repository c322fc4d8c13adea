/** Checks a proof whenever the file or the key has changed, once there are both. */
import { parseVerifierKeys } from '#libs/proof/tree/check-file';
import { crypto } from '#libs/proof/tree/noble';
import { ProofError } from '#libs/proof/tree/proof-error';
import { examine, largestFile, type Recognized, recognize } from '#libs/proof/tree/recognize';
import type { VerifierKey } from '#libs/proof/tree/verifier-key';
import * as page from './page.ts';

let chosen: { name: string; found: Recognized } | undefined;
/** Files chosen one after another may be read in any order; only the last one counts. */
let reading = 0;

/** Bytes: checking a larger file blocks the page for seconds, so a message is drawn first. */
const large = 4 * 1024 * 1024;
/** Milliseconds until the message is drawn. */
const drawn = 50;

async function choose(file: File | undefined): Promise<void> {
  const turn = ++reading;
  chosen = undefined;
  page.showFileError('');
  if (file && file.size > largestFile) {
    page.showFileError(`${file.name} is too large to be a proof.`);
  } else if (file) {
    const content = await file.arrayBuffer().then(
      (buffer) => new Uint8Array(buffer),
      () => undefined,
    );
    if (turn !== reading) return;
    if (file.size > large) {
      page.showWaiting('Checking…');
      await new Promise((resolve) => setTimeout(resolve, drawn));
      if (turn !== reading) return;
    }
    if (content) chosen = { name: file.name, found: recognize(content) };
    else page.showFileError(`${file.name} cannot be read.`);
  }
  check({ isTyping: false });
}

/** A key that is still being typed is not reported as wrong. */
function check({ isTyping }: { isTyping: boolean }): void {
  const keys = readKeys(isTyping);
  if (!chosen) page.showWaiting("Choose a proof file, a bundle, a checkpoint or a visitor's download.");
  else if (chosen.found.kind === 'nothing') page.showNoProof(chosen.found.why);
  else if (!keys)
    page.showWaiting(page.key.value.trim() ? 'The verifier key is not right yet.' : 'Enter the verifier key.');
  else page.showFinding(examine(chosen.found, keys, crypto), chosen.name);
}

function readKeys(isTyping: boolean): VerifierKey[] | undefined {
  try {
    const keys = parseVerifierKeys(crypto.sha256, page.key.value);
    page.showKeyError('');
    return keys.length > 0 ? keys : undefined;
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    page.showKeyError(isTyping ? '' : error.message);
    return undefined;
  }
}

page.file.addEventListener('change', () => void choose(page.file.files?.[0]));
page.print.addEventListener('click', () => print());
page.key.addEventListener('change', () => check({ isTyping: false }));
page.key.addEventListener('input', (event) => check({ isTyping: isKeystroke(event) }));

/** False for a paste, and for a value that a program has filled in. */
const isKeystroke = (event: Event): boolean =>
  event instanceof InputEvent && (event.data?.length === 1 || event.inputType.startsWith('delete'));

/** A file can be dropped anywhere: if it missed the field, the browser would leave the page to show it. */
const { classList } = document.documentElement;
document.addEventListener('dragover', (event) => {
  event.preventDefault();
  classList.add('dragged');
});
document.addEventListener('dragleave', (event) => {
  if (!event.relatedTarget) classList.remove('dragged');
});
document.addEventListener('drop', (event) => {
  const dropped = event.dataTransfer?.files[0];
  classList.remove('dragged');
  // dropped text belongs in the key's field
  if (!dropped && event.target === page.key) return;
  event.preventDefault();
  if (!dropped) return;
  // the field shows the file's name as if it had been chosen there
  const one = new DataTransfer();
  one.items.add(dropped);
  page.file.files = one.files;
  void choose(dropped);
});
document.getElementById('form')?.addEventListener('submit', (event) => event.preventDefault());

page.showLimits();
check({ isTyping: false });
