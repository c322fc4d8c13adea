/** Verifier keys of signed notes (C2SP signed-note), Ed25519 only: `name+keyId+base64(1 ‖ public key)`. */
import { base64, concat, equal, fromBase64, fromHex, hex, utf8 } from './bytes.ts';
import type { Sha256 } from './hash.ts';
import { ProofError } from './proof-error.ts';

export interface VerifierKey {
  name: string;
  /** 4 bytes that distinguish keys of the same name; not a secure hash */
  id: Uint8Array;
  /** 32 bytes */
  publicKey: Uint8Array;
}

const ed25519 = Uint8Array.of(1);
const newline = Uint8Array.of(10);

const keyId = (sha256: Sha256, name: string, publicKey: Uint8Array): Uint8Array =>
  sha256(concat(utf8(name), newline, ed25519, publicKey)).slice(0, 4);

export const verifierKey = (sha256: Sha256, name: string, publicKey: Uint8Array): VerifierKey => ({
  name,
  id: keyId(sha256, name, publicKey),
  publicKey,
});

export const formatVerifierKey = ({ name, id, publicKey }: VerifierKey): string =>
  `${name}+${hex(id)}+${base64(concat(ed25519, publicKey))}`;

/** Whether it may stand in a signature line. */
export const isKeyName = (name: string): boolean => /^[^\s+\p{Cc}]+$/u.test(name);

/** Throws a ProofError that says what is wrong with it. */
export function parseVerifierKey(sha256: Sha256, text: string): VerifierKey {
  const [, name, digits, encoded] = /^([^+]*)\+([^+]*)\+(.*)$/s.exec(text) ?? [];
  if (name === undefined || digits === undefined || encoded === undefined) {
    throw new ProofError('A verifier key looks like this: name+8 hex digits+base64.');
  }
  if (!isKeyName(name)) throw new ProofError("The verifier key's name is empty or has white space in it.");
  const id = fromHex(digits);
  if (id?.length !== 4) throw new ProofError("The verifier key's id is not 8 lowercase hex digits.");
  const bytes = fromBase64(encoded);
  if (!bytes) throw new ProofError("The verifier key's last part is not base64; perhaps it was not copied completely.");
  if (bytes[0] !== 1) throw new ProofError('The verifier key is not for Ed25519, the only algorithm in use here.');
  if (bytes.length !== 33) throw new ProofError(`The verifier key has ${bytes.length - 1} bytes instead of 32.`);
  const publicKey = bytes.slice(1);
  if (!equal(id, keyId(sha256, name, publicKey))) {
    throw new ProofError("The verifier key's id does not fit its name and key: a character of it was changed.");
  }
  return { name, id, publicKey };
}
