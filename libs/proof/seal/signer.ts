/** Signs checkpoints. Every log has a key of its own, made from the one that the operator keeps (HKDF, RFC 5869). */
import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { sha256 } from '#libs/base/sha256';
import { formatCheckpoint } from '../tree/checkpoint.ts';
import { formatNote } from '../tree/note.ts';
import { formatVerifierKey, type VerifierKey, verifierKey } from '../tree/verifier-key.ts';

/** What precedes the 32 bytes of an Ed25519 private key in DER (RFC 8410). */
const derPrefix = Buffer.from('302e020100300506032b657004220420', 'hex');

const keysKept = 20_000;

interface SigningKey {
  verifier: VerifierKey;
  key: KeyObject;
}

interface SignedCheckpoint {
  checkpoint: string;
  /** newest first */
  verifierKeys: string[];
}

export interface Signer {
  /** identifies these keys; not secret */
  id: string;
  sign(origin: string, size: number, root: Uint8Array): SignedCheckpoint;
}

/** `secrets`: 32 bytes each, the newest first; every one of them signs. */
export function createSigner(secrets: Buffer[]): Signer {
  // to make a key takes as long as five signatures
  const made = new LRUCache<string, SigningKey[]>({
    max: keysKept,
    memoMethod: (origin) => secrets.map((secret) => deriveKey(secret, origin)),
  });
  const keys = (origin: string) => made.memo(origin);
  return {
    id: createHash('sha256')
      .update(
        keys('')
          .map(({ verifier }) => Buffer.from(verifier.publicKey))
          .reduce((all, key) => Buffer.concat([all, key]), Buffer.alloc(0)),
      )
      .digest('hex')
      .slice(0, 16),
    sign: (origin, size, root) => {
      const text = formatCheckpoint(origin, size, root);
      const signing = keys(origin);
      const signatures = signing.map(({ verifier, key }) => ({
        name: verifier.name,
        keyId: verifier.id,
        signature: sign(null, Buffer.from(text), key),
      }));
      return {
        checkpoint: formatNote(text, signatures),
        verifierKeys: signing.map(({ verifier }) => formatVerifierKey(verifier)),
      };
    },
  };
}

function deriveKey(secret: Buffer, origin: string): SigningKey {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', `assent log ${origin}`, 32));
  const key = createPrivateKey({ key: Buffer.concat([derPrefix, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  return { key, verifier: verifierKey(sha256, origin, publicKey) };
}
