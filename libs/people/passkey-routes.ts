/** A person's own passkeys. */
import { answer } from '#libs/base/http/openapi';
import type { Routes } from '#libs/base/http/routes';
import { decidedAt, laterAt } from '#libs/base/terms/example-names';
import { creationOptions, type Passkey, passkey, passkeyBody, passkeyPath, passkeys } from './contract.ts';

const examplePasskey: Passkey = {
  passkeyId: 'pky_3f9c1d5e7b2a46801d2e',
  name: 'Laptop',
  createdAt: decidedAt,
  lastUsedAt: laterAt,
};
const challenge = 'mK2nq0bXwP1tR4yUe7ZgAAGd3xVvYgNTy8rW5sD2fHkL9cQ6jB0a';
const id = 'Jf3v9TqL0bXwP1tR4yUe7g';
const credential = { id, rawId: id, type: 'public-key' } as const;
const clientDataJSON = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0';

export const exampleSignInOptions = {
  challenge,
  rpId: 'consent.example.com',
  timeout: 120_000,
  userVerification: 'required',
} as const;
export const exampleAssertion = {
  ...credential,
  response: { clientDataJSON, authenticatorData: 'SZYN5YgOjGh0NBcP', signature: 'MEUCIQDx', userHandle: 'qL0bXwP1tR4' },
};

const own = '/v1/people/me/passkeys';
const change = { tag: 'People', scope: 'any', limits: 'changes' } as const;
const ofPages = ' For the pages of the service: other origins are refused.';
const always = ['person_not_found', 'origin_not_allowed', 'not_configured'] as const;

export const passkeyRoutes = {
  getPasskeys: {
    ...change,
    limits: 'reads',
    method: 'get',
    path: own,
    answers: { 200: answer('The passkeys', passkeys, { passkeys: [examplePasskey] }) },
    refusals: ['person_not_found'],
    summary: 'List your passkeys, newest first',
    description: 'With a token that was not issued to a person by this service: `person_not_found`.',
  },
  createPasskeyOptions: {
    ...change,
    method: 'post',
    path: `${own}/options`,
    answers: {
      200: answer('What to pass to the browser', creationOptions, {
        challenge,
        rp: { name: 'Assent', id: 'consent.example.com' },
        user: { id: 'qL0bXwP1tR4', name: 'ann@example.com', displayName: 'Ann Example' },
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        timeout: 120_000,
      }),
    },
    refusals: ['invalid_credentials', 'quota_exceeded', ...always],
    summary: 'Begin to add a passkey',
    description:
      'The options of `navigator.credentials.create`, as JSON (`PublicKeyCredential.parseCreationOptionsFromJSON`). ' +
      'They are valid for 2 minutes, once. If the session began more than 10 minutes ago, the response is ' +
      `\`invalid_credentials\`: sign in again first.${ofPages}`,
  },
  addPasskey: {
    ...change,
    method: 'post',
    path: `${own}/verify`,
    body: {
      schema: passkeyBody,
      example: {
        name: 'Laptop',
        credential: { ...credential, response: { clientDataJSON, attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oA' } },
      },
    },
    answers: { 201: answer('The passkey', passkey, { ...examplePasskey, lastUsedAt: null }) },
    refusals: ['quota_exceeded', ...always],
    summary: 'Add a passkey',
    description: `Send what the browser returned for the options. A person has at most 20 passkeys.${ofPages}`,
  },
  removePasskey: {
    ...change,
    limits: 'revocations',
    method: 'delete',
    path: `${own}/:passkeyId`,
    params: passkeyPath,
    answers: { 200: answer('The passkey as it was', passkey, examplePasskey) },
    refusals: ['key_not_found', ...always],
    summary: 'Remove a passkey',
    description: `Ends all other sessions. Once the last one is removed, the password signs in again.${ofPages}`,
  },
} satisfies Routes;
