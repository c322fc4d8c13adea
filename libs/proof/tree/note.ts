/** Signed notes (C2SP signed-note): a text, an empty line, a line for each signature. */
import { base64, concat, equal, fromBase64, utf8 } from './bytes.ts';
import { ProofError } from './proof-error.ts';
import { isKeyName, type VerifierKey } from './verifier-key.ts';

/** Handed in. False for anything but a good signature of 64 bytes; never throws. */
export type VerifyEd25519 = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;

interface Signature {
  name: string;
  /** 4 bytes */
  keyId: Uint8Array;
  signature: Uint8Array;
}

interface Note {
  /** what is signed, its last newline included */
  text: string;
  signatures: Signature[];
}

export const formatNote = (text: string, signatures: Signature[]): string =>
  `${text}\n${signatures.map(({ name, keyId, signature }) => signatureLine(name, keyId, signature)).join('')}`;

/** With its newline. */
export const signatureLine = (name: string, keyId: Uint8Array, signature: Uint8Array): string =>
  `— ${name} ${base64(concat(keyId, signature))}\n`;

const maxSignatures = 100;

/** Throws a ProofError that says what is wrong with its form. No signature is checked here. */
export function parseNote(note: string): Note {
  if (note.includes('\r')) {
    throw new ProofError('There are carriage returns in it: it went through a program that changes line ends.');
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the format forbids
  if (/[\0-\t\v-\x1f]/.test(note)) throw new ProofError('There are control characters in it.');
  if (/\p{Cs}/u.test(note)) throw new ProofError('It is not well-formed Unicode.');
  if (!note.endsWith('\n')) throw new ProofError('Its last line is cut off: the newline at the end is missing.');
  const end = note.lastIndexOf('\n\n');
  if (end < 0) throw new ProofError('It has no empty line between the signed text and the signatures.');
  const lines = note.slice(end + 2, -1).split('\n');
  if (lines.length > maxSignatures) throw new ProofError(`It has more than ${maxSignatures} signatures.`);
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignatureLine) };
}

function parseSignatureLine(line: string): Signature {
  const [dash, name, encoded, ...more] = line.split(' ');
  if (line === '') throw new ProofError('It has no signature.');
  if (dash !== '—' || name === undefined || encoded === undefined || more.length > 0 || !isKeyName(name)) {
    throw new ProofError(`This line should be a signature, but is not: ${line.slice(0, 100)}`);
  }
  const bytes = fromBase64(encoded);
  if (!bytes) throw new ProofError(`The signature of ${name} is not canonical base64.`);
  if (bytes.length < 5) throw new ProofError(`The signature of ${name} is too short.`);
  return { name, keyId: bytes.slice(0, 4), signature: bytes.slice(4) };
}

/**
 * The given keys that signed the note. Throws a ProofError if there is none, or if a known key's signature is
 * wrong. Signatures by other keys are ignored.
 */
export function signersOf(note: Note, keys: VerifierKey[], verifyEd25519: VerifyEd25519): VerifierKey[] {
  const message = utf8(note.text);
  const signers = new Set<VerifierKey>();
  for (const { name, keyId, signature } of note.signatures) {
    const known = keys.filter((key) => key.name === name && equal(key.id, keyId));
    if (known.length === 0) continue;
    const signer = known.find((key) => verifyEd25519(key.publicKey, message, signature));
    if (!signer) {
      throw new ProofError(`The signature of ${name} is wrong: the text was changed, or signed with another key.`);
    }
    signers.add(signer);
  }
  if (signers.size === 0) throw new ProofError(strangers(note, keys));
  return Array.from(signers);
}

function strangers({ signatures }: Note, keys: VerifierKey[]): string {
  const signed = Array.from(new Set(signatures.map(({ name }) => name))).join(', ');
  const given = Array.from(new Set(keys.map(({ name }) => name))).join(', ');
  return signed === given
    ? `It is signed by another key of ${signed} than the one given.`
    : `It is signed by ${signed}, and the key given is that of ${given || 'nobody'}.`;
}
