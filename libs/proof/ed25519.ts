/** Node's Ed25519 for signed notes. */
import { verify } from 'node:crypto';

/** What precedes the 32 bytes of a public key in DER (RFC 8410). */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex');

export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const key = Buffer.concat([derPrefix, publicKey]);
  return verify(null, message, { key, format: 'der', type: 'spki' }, signature);
}
