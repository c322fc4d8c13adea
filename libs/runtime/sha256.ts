/** Node's own SHA-256, as the tree takes it. */
import { hash } from 'node:crypto';

export const sha256 = (input: Uint8Array): Uint8Array => hash('sha256', input, 'buffer');
