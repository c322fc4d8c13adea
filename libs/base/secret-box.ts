/** Encrypts small secrets with one key (AES-256-GCM). Each is bound to the name of its owner. */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

export interface SecretBox {
  /** `name`: the owner of the secret. */
  seal(name: string, secret: Buffer): Buffer;
  /** Throws if it was sealed with another key or for another name. */
  open(name: string, sealed: Buffer): Buffer;
}

/** Keys have 32 bytes. `previous` is only used to open. */
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
