/** Node's SHA-256, in the form that the Merkle tree needs. */
import { hash } from 'node:crypto';

/** via a string, because Node takes three times as long to return a buffer */
export const sha256 = (input: Uint8Array): Uint8Array => Buffer.from(hash('sha256', input, 'binary'), 'latin1');
