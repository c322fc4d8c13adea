/** Access tokens of people, which the API itself issues: it alone has the key, which is derived from `SECRETS_KEY`. */
import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';

/** The `kid` of their key: no configured key may have it. */
export const personKeyId = 'assent-people';
/** What their `sub` begins with, and no other token's. */
export const personSubject = 'person:';

/** seconds */
const lifetime = 300;

/** `secretsKey`: 32 bytes */
export const personTokenKey = (secretsKey: Buffer): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secretsKey, '', 'assent tokens of people', 32)));

/** `personId`: the id of the membership, so a person has another one in each organization. */
export function issuePersonToken(
  key: KeyObject,
  { personId, organizationId }: { personId: string; organizationId: string },
): { token: string; expiresAt: string } {
  const iat = Math.floor(Date.now() / 1000);
  const exp = iat + lifetime;
  const token = jsonwebtoken.sign({ sub: personSubject + personId, org: organizationId, iat, exp }, key, {
    algorithm: 'HS256',
    keyid: personKeyId,
  });
  return { token, expiresAt: new Date(exp * 1000).toISOString() };
}
