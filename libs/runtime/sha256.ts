/** Node's own SHA-256, as the tree takes it. */
import { hash } from 'node:crypto';

/** By way of a text: a buffer of its own for each hash takes twice as long as the hash. */
export const sha256 = (input: Uint8Array): Uint8Array => Buffer.from(hash('sha256', input, 'binary'), 'binary');
