/** Small secrets under one key (AES-256-GCM), each bound to what it belongs to. */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

export interface SecretBox {
  /** `name`: what the secret belongs to. */
  seal(name: string, secret: Buffer): Buffer;
  /** Throws where it was sealed under another key or for another name. */
  open(name: string, sealed: Buffer): Buffer;
}

/** 32 bytes each. `previous` only opens. */
export function createSecretBox(key: Buffer, previous?: Buffer): SecretBox {
  const secretKey = createSecretKey(key);
  const before = previous && createSecretBox(previous);
  return {
    seal: (name, secret) => {
      const nonce = randomBytes(nonceLength);
      const sealing = createCipheriv(cipher, secretKey, nonce).setAAD(Buffer.from(name));
      const text = Buffer.concat([sealing.update(secret), sealing.final()]);
      return Buffer.concat([nonce, sealing.getAuthTag(), text]);
    },
    open: (name, sealed) => {
      try {
        return openUnder(secretKey, name, sealed);
      } catch (error) {
        if (!before) throw error;
        return before.open(name, sealed);
      }
    },
  };
}

function openUnder(key: KeyObject, name: string, sealed: Buffer): Buffer {
  const opening = createDecipheriv(cipher, key, sealed.subarray(0, nonceLength), { authTagLength: tagLength })
    .setAAD(Buffer.from(name))
    .setAuthTag(sealed.subarray(nonceLength, nonceLength + tagLength));
  return Buffer.concat([opening.update(sealed.subarray(nonceLength + tagLength)), opening.final()]);
}
