/** Node's own SHA-256, as the tree takes it. */
import { hash } from 'node:crypto';

/** Node takes three times as long to make a buffer as to make a text. */
export const sha256 = (input: Uint8Array): Uint8Array => Buffer.from(hash('sha256', input, 'binary'), 'latin1');
