/**
 * Challenges of passkeys. They are signed, so they need not be stored when issued; used ones are, so that each works once.
 */
import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Sql } from '#libs/base/db/database';

/** milliseconds */
export const challengeLifetime = 120_000;
/** bytes */
const [nonceLength, timeLength] = [16, 6];

/** Signing in, or adding a passkey to this person. */
export type Purpose = 'sign-in' | { person: number };

/** The prefix keeps challenges apart from access tokens, which are signed with the same key. */
const signature = (key: KeyObject, purpose: Purpose, signed: Buffer): Buffer =>
  createHmac('sha256', key)
    .update(`passkey ${purpose === 'sign-in' ? purpose : purpose.person}: `)
    .update(signed)
    .digest();

export function makeChallenge(key: KeyObject, purpose: Purpose) {
  const expiry = Buffer.alloc(timeLength);
  expiry.writeUIntBE(Date.now() + challengeLifetime, 0, timeLength);
  const signed = Buffer.concat([randomBytes(nonceLength), expiry]);
  return Buffer.concat([signed, signature(key, purpose, signed)]);
}

/** Returns the nonce; undefined if the signature or the purpose is wrong, or the challenge has expired. */
export function readChallenge(keys: KeyObject[], purpose: Purpose, challenge: string): Buffer | undefined {
  const given = Buffer.from(challenge, 'base64url');
  const signed = given.subarray(0, nonceLength + timeLength);
  const mac = given.subarray(signed.length);
  const isSigned = keys.some((key) => {
    const expected = signature(key, purpose, signed);
    return mac.length === expected.length && timingSafeEqual(mac, expected);
  });
  if (!isSigned || signed.readUIntBE(nonceLength, timeLength) < Date.now()) return undefined;
  return signed.subarray(0, nonceLength);
}

/** False if it has been used before. */
export async function useChallenge(sql: Sql, nonce: Buffer): Promise<boolean> {
  await sql`delete from used_challenges where used_at < statement_timestamp() - interval '1 hour'`;
  const used = await sql`insert into used_challenges (nonce) values (${nonce}) on conflict do nothing returning nonce`;
  return used.length > 0;
}
