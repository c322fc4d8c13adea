/** An organization's people, and how they sign in. */
import { answer, idempotencyKey, onceCodes, replayed } from '#libs/base/http/openapi';
import type { KeyRoutes, Routes } from '#libs/base/http/routes';
import { decidedAt, domainId, laterAt, organizationId } from '#libs/base/terms/example-names';
import { listQuery } from '#libs/base/terms/parameters';
import {
  invitationBody,
  invitedPerson,
  type Me,
  me,
  meChange,
  type Person,
  passkeySignInBody,
  passwordBody,
  peoplePage,
  person,
  personBody,
  personChange,
  personPath,
  renewBody,
  requestOptions,
  type SignedIn,
  setUpAnswer,
  setupBody,
  signedIn,
  signedOut,
  signOutBody,
} from './contract.ts';
import { exampleAssertion, exampleSignInOptions, passkeyRoutes } from './passkey-routes.ts';

const personId = 'per_3f9c1d5e7b2a46801d2e';
const examplePerson: Person = {
  personId,
  email: 'ann@example.com',
  name: 'Ann Example',
  scopes: ['read', 'manage'],
  createdAt: decidedAt,
  lastSeenAt: laterAt,
  passkeys: 0,
  pending: false,
};
const invited = {
  ...examplePerson,
  name: null,
  lastSeenAt: null,
  pending: true,
  inviteUrl: 'https://consent.example.com/invitation#invite=k3Jv0nT5r8Wm1Xq7Zb2Lc9Df4Gh6Ps',
};
const exampleSignedIn: SignedIn = {
  token: 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFzc2VudC1wZW9wbGUifQ.…',
  expiresAt: laterAt,
  organizationId,
  organizations: [{ organizationId, name: 'Example shops' }],
};
const exampleMe: Me = { email: 'ann@example.com', name: 'Ann Example', passwordOff: false, createdAt: decidedAt };
const password = 'four quiet lamps in may';

const people = '/v1/organization/people';
const shown = { tag: 'People', scope: ['manage'], limits: 'reads' } as const;
const change = { tag: 'People', scope: ['manage'], limits: 'changes', inForce: true } as const;

export const peopleRoutes = {
  getPeople: {
    ...shown,
    method: 'get',
    path: people,
    query: listQuery,
    answers: { 200: answer('A page of people', peoplePage, { people: [examplePerson], nextCursor: null }) },
    refusals: [],
    summary: 'List the people of the organization, newest first',
    description: 'Includes pending invitations.',
  },
  invitePerson: {
    ...change,
    method: 'post',
    path: people,
    headers: idempotencyKey,
    body: { schema: personBody, example: { email: 'ann@example.com', scopes: ['read', 'manage'] } },
    answers: {
      201: answer('The invited person, and the link, shown only this once', invitedPerson, invited, replayed),
    },
    refusals: ['email_taken', 'quota_exceeded', 'not_configured', ...onceCodes],
    summary: 'Invite a person',
    description:
      'The service sends no mail: pass the link on. It is valid once, for 7 days. Nobody can give a scope that their ' +
      'own token lacks.',
  },
  changePerson: {
    ...change,
    method: 'patch',
    path: `${people}/:personId`,
    params: personPath,
    body: { schema: personChange, example: { scopes: ['read', 'manage'] } },
    answers: { 200: answer('The person as they are now', person, examplePerson) },
    refusals: ['person_not_found', 'last_manager'],
    summary: 'Change the scopes of a person',
    description:
      'Takes effect within a second, also for access tokens that were issued before. Nobody can give a scope that ' +
      'their own token lacks; taking one away is always allowed.',
  },
  removePerson: {
    ...change,
    limits: 'revocations',
    method: 'delete',
    path: `${people}/:personId`,
    params: personPath,
    answers: { 200: answer('The person as they were', person, examplePerson) },
    refusals: ['person_not_found', 'last_manager'],
    summary: 'Remove a person, or withdraw an invitation',
    description:
      'Ends the rights in this organization within a second. A person who belongs to no other organization is deleted.',
  },
  inviteAgain: {
    ...change,
    method: 'post',
    path: `${people}/:personId/invitation`,
    params: personPath,
    headers: idempotencyKey,
    answers: { 201: answer('The person, and the new link, shown only this once', invitedPerson, invited, replayed) },
    refusals: ['person_not_found', 'not_pending', 'not_configured', ...onceCodes],
    summary: 'Create a new invitation link',
    description:
      'The earlier link stops working. Works only while the invitation is pending; the link cannot reset a password.',
  },
  getMe: {
    ...shown,
    scope: 'any',
    method: 'get',
    path: '/v1/people/me',
    answers: { 200: answer('The person', me, exampleMe) },
    refusals: ['person_not_found'],
    summary: 'Get the person whose access token it is',
    description: 'With a token that was not issued to a person by this service: `person_not_found`.',
  },
  changeMe: {
    ...shown,
    scope: 'any',
    limits: 'changes',
    method: 'patch',
    path: '/v1/people/me',
    body: { schema: meChange, example: { name: 'Ann Example' } },
    answers: { 200: answer('The person as they are now', me, exampleMe) },
    refusals: ['person_not_found', 'invalid_credentials', 'origin_not_allowed', 'not_configured'],
    summary: 'Change your name or password',
    description:
      'A new password needs the old one. That ends all other sessions, as does setting `passwordOff` to true. Removing ' +
      'the last passkey sets it to false again.',
  },
  ...passkeyRoutes,
} satisfies Routes;

const open = { method: 'post', auth: [], tag: 'People' } as const;
/** refusals of every sign-in route */
const always = ['invalid_request', 'origin_not_allowed', 'rate_limited', 'not_configured'] as const;
const ofPages = ' For the pages of the service: other origins are refused.';

export const signInRoutes = {
  setUp: {
    ...open,
    path: '/v1/sign-in/setup',
    body: {
      schema: setupBody,
      example: {
        setup: 'k3Jv0nT5r8Wm1Xq7Zb2Lc9Df4Gh6Ps',
        organization: 'Example shops',
        name: 'Ann Example',
        email: 'ann@example.com',
        password,
        domain: 'www.example.com',
        origins: ['https://www.example.com'],
      },
    },
    answers: { 200: answer('The person is signed in', setUpAnswer, { ...exampleSignedIn, domainId }) },
    refusals: ['invalid_setup', ...always],
    summary: 'Create the first organization, person and domain',
    description: `With a link that \`assent setup\` prints, while there is no person. The first person has all scopes.${ofPages}`,
  },
  acceptInvitation: {
    ...open,
    path: '/v1/sign-in/invitation',
    body: {
      schema: invitationBody,
      example: { invite: 'k3Jv0nT5r8Wm1Xq7Zb2Lc9Df4Gh6Ps', name: 'Ann Example', password },
    },
    answers: { 200: answer('The person is signed in', signedIn, exampleSignedIn) },
    refusals: ['invalid_invitation', 'email_taken', 'invalid_token', ...always],
    summary: 'Accept an invitation, or set a new password',
    description:
      'A new person needs `name` and `password`. Anyone who already has an account sends their session’s access token ' +
      'instead (`Authorization: Bearer …`), and the account joins the organization. With a link that ' +
      `\`assent person reset\` printed, only \`password\` is needed.${ofPages}`,
  },
  signInWithPassword: {
    ...open,
    path: '/v1/sign-in/password',
    body: { schema: passwordBody, example: { email: 'ann@example.com', password } },
    answers: { 200: answer('The person is signed in', signedIn, exampleSignedIn) },
    refusals: ['invalid_credentials', ...always],
    summary: 'Sign in with a password',
    description:
      'The response sets a cookie for the session, and has an access token for 5 minutes, for the organization used ' +
      `last. An unknown address gets the same response as a wrong password, after the same time.${ofPages}`,
  },
  createPasskeySignIn: {
    ...open,
    path: '/v1/sign-in/passkey/options',
    answers: { 200: answer('What to pass to the browser', requestOptions, exampleSignInOptions) },
    refusals: [...always],
    summary: 'Begin to sign in with a passkey',
    description:
      'The options of `navigator.credentials.get`, as JSON (`PublicKeyCredential.parseRequestOptionsFromJSON`). They ' +
      `are valid for 2 minutes, once, and the same for everybody.${ofPages}`,
  },
  signInWithPasskey: {
    ...open,
    path: '/v1/sign-in/passkey/verify',
    body: { schema: passkeySignInBody, example: { credential: exampleAssertion } },
    answers: { 200: answer('The person is signed in', signedIn, exampleSignedIn) },
    refusals: ['invalid_credentials', ...always],
    summary: 'Sign in with a passkey',
    description: `Send what the browser returned for the options. Failed attempts are never limited.${ofPages}`,
  },
  renew: {
    ...open,
    path: '/v1/sign-in/renew',
    body: { schema: renewBody, example: {} },
    answers: { 200: answer('A new access token', signedIn, exampleSignedIn) },
    refusals: ['invalid_credentials', ...always],
    summary: 'Get the next access token of a session',
    description: `By the cookie of the session, for any organization of the person.${ofPages}`,
  },
  signOut: {
    ...open,
    path: '/v1/sign-out',
    body: { schema: signOutBody, example: {} },
    answers: { 200: answer('The session has ended', signedOut, { ended: 1 }) },
    refusals: [...always],
    summary: 'End the session, or all sessions of the person',
    description: `Access tokens that were issued before are valid for up to 5 minutes more.${ofPages}`,
  },
} satisfies KeyRoutes;
