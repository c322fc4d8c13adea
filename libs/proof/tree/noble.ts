/** SHA-256 and Ed25519 in JavaScript, for pages: a browser has neither where one is opened from disk or over plain HTTP. */
import { hashes, verify } from '@noble/ed25519';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import type { Crypto } from './tlog-proof.ts';

hashes.sha512 = sha512;

export const crypto: Crypto = {
  sha256,
  verifyEd25519: (publicKey, message, signature) => {
    try {
      // as strict as OpenSSL, so that the page and the command line never differ
      return verify(signature, message, publicKey, { zip215: false });
    } catch {
      return false;
    }
  },
};
