/** WebAuthn: options for the browser, and the check of its responses. The library is loaded on first use. */

import type { BodyOf } from '#libs/base/http/routes';
import { makeChallenge, type Purpose, readChallenge, challengeLifetime as timeout } from './challenges.ts';
import type { Person } from './people.ts';
import type { peopleRoutes, signInRoutes } from './routes.ts';
import type { Accounts } from './sessions.ts';

const library = () => import('@simplewebauthn/server');

export interface Credential {
  /** in base64url */
  credentialId: string;
  transports: string[];
  /** as COSE */
  publicKey: Uint8Array<ArrayBuffer>;
  /** of signatures; 0 if the authenticator does not count */
  counter: number;
}

/** `known`: the person's passkeys; an authenticator that has one of them does not add another. */
export async function registrationOptions(
  { publicUrl, keys: [key] }: Accounts,
  { number, userHandle, email, name }: Person,
  known: Pick<Credential, 'credentialId' | 'transports'>[],
) {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: 'Assent',
    rpID: new URL(publicUrl).hostname,
    userID: Uint8Array.from(Buffer.from(userHandle, 'base64url')),
    userName: email,
    userDisplayName: name,
    challenge: makeChallenge(key, { person: number }),
    timeout,
    excludeCredentials: known.map(({ credentialId: id, transports }) => ({ id, transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** Without credentials, so that the options do not depend on the person. */
export async function signInOptions({ publicUrl, keys: [key] }: Accounts) {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: new URL(publicUrl).hostname,
    challenge: makeChallenge(key, 'sign-in'),
    timeout,
    userVerification: 'required',
  });
}

interface Expected {
  expectedOrigin: string;
  expectedRPID: string;
  expectedChallenge: (challenge: string) => boolean;
}

/** Undefined if the response is invalid. The caller must make sure that the challenge's `nonce` is used only once. */
async function check<T>(
  { publicUrl, keys }: Accounts,
  purpose: Purpose,
  verify: (expected: Expected) => Promise<T | undefined>,
): Promise<{ proven: T; nonce: Buffer } | undefined> {
  const { origin, hostname } = new URL(publicUrl);
  const nonces: Buffer[] = [];
  const expectedChallenge = (challenge: string): boolean => {
    const nonce = readChallenge(keys, purpose, challenge);
    if (nonce) nonces.push(nonce);
    return nonce !== undefined;
  };
  // the library throws for an invalid response
  const proven = await verify({ expectedOrigin: origin, expectedRPID: hostname, expectedChallenge }).catch(() => {});
  const [nonce] = nonces;
  return proven !== undefined && nonce ? { proven, nonce } : undefined;
}

/** Extensions are not used. */
const clientExtensionResults = {};

type Created = BodyOf<typeof peopleRoutes.addPasskey>['credential'];
type Signed = BodyOf<typeof signInRoutes.signInWithPasskey>['credential'];

/** Undefined unless it is a passkey of this person for this site, with user verification. */
export async function checkRegistration(accounts: Accounts, { number }: Person, credential: Created) {
  const { verifyRegistrationResponse } = await library();
  return check(accounts, { person: number }, async (expected): Promise<Credential | undefined> => {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...credential, clientExtensionResults },
      ...expected,
    });
    if (!registrationInfo) return undefined;
    const { id: credentialId, publicKey, counter, transports = [] } = registrationInfo.credential;
    return { credentialId, publicKey, counter, transports };
  });
}

/** Undefined unless the passkey signed this sign-in, for this site, with user verification. `proven`: its new counter. */
export async function checkSignIn(accounts: Accounts, passkey: Credential, credential: Signed) {
  const { verifyAuthenticationResponse } = await library();
  const { credentialId: id, publicKey, counter } = passkey;
  return check(accounts, 'sign-in', async (expected): Promise<number | undefined> => {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...credential, clientExtensionResults },
      ...expected,
      credential: { id, publicKey: Uint8Array.from(publicKey), counter },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  });
}
