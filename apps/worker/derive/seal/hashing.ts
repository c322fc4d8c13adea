/** Node's own SHA-256, as the tree takes it. */
import { hash } from 'node:crypto';
import type { Sha256 } from '#libs/merkle/hash';

export const sha256: Sha256 = (input) => hash('sha256', input, 'buffer');
