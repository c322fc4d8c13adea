/** Challenges of passkeys. They are signed, so that only those that were used have to be stored. */
import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Sql } from '#libs/base/db/database';

/** milliseconds */
export const challengeLifetime = 120_000;
/** bytes */
const [nonceLength, timeLength] = [16, 6];

/** What it is for: signing in, or adding a passkey to this person. */
export type ChallengeFor = 'sign-in' | { person: number };

/** The prefix differs from anything that is signed as an access token with the same key. */
const signature = (key: KeyObject, whatFor: ChallengeFor, signed: Buffer): Buffer =>
  createHmac('sha256', key)
    .update(`passkey ${whatFor === 'sign-in' ? whatFor : whatFor.person}: `)
    .update(signed)
    .digest();

export function makeChallenge(key: KeyObject, whatFor: ChallengeFor) {
  const expiry = Buffer.alloc(timeLength);
  expiry.writeUIntBE(Date.now() + challengeLifetime, 0, timeLength);
  const signed = Buffer.concat([randomBytes(nonceLength), expiry]);
  return Buffer.concat([signed, signature(key, whatFor, signed)]);
}

/** Returns its nonce; undefined if it was not made with one of these keys, is for something else, or has expired. */
export function readChallenge(keys: KeyObject[], whatFor: ChallengeFor, challenge: string): Buffer | undefined {
  const given = Buffer.from(challenge, 'base64url');
  const signed = given.subarray(0, nonceLength + timeLength);
  const mac = given.subarray(signed.length);
  const isSigned = keys.some((key) => {
    const expected = signature(key, whatFor, signed);
    return mac.length === expected.length && timingSafeEqual(mac, expected);
  });
  if (!isSigned || signed.readUIntBE(nonceLength, timeLength) < Date.now()) return undefined;
  return signed.subarray(0, nonceLength);
}

/** Of two who use it, the second gets false. */
export async function useChallenge(sql: Sql, nonce: Buffer): Promise<boolean> {
  await sql`delete from used_challenges where used_at < statement_timestamp() - interval '1 hour'`;
  const used = await sql`insert into used_challenges (nonce) values (${nonce}) on conflict do nothing returning nonce`;
  return used.length > 0;
}
