/** SHA-256 and Ed25519 in JavaScript: a page over plain HTTP has no others, and the tree hashes synchronously. */
import { hashes, verify } from '@noble/ed25519';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import type { Crypto } from '#libs/merkle/tlog-proof';

hashes.sha512 = sha512;

export const crypto: Crypto = {
  sha256,
  verifyEd25519: (publicKey, message, signature) => {
    try {
      // as strict as OpenSSL, so that page and command line never differ
      return verify(signature, message, publicKey, { zip215: false });
    } catch {
      return false;
    }
  },
};
