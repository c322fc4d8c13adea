/** People: who may do what in an organization, and how they sign in. */
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { z } from 'zod';
import { count, nullable, time } from '#libs/base/terms/response-fields';
import { scopesAmong, scopes as scopesOfUs } from '#libs/base/terms/terms';
import { domainBody, name } from '#libs/tenants/contract';

/** Excludes control and bidirectional characters, which could make an address in a list look like another one. */
const addressPattern = /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]+\.[^\s@\p{C}]+$/u;
const longestAddress = 254;

export const email = z
  .string()
  .transform((text) => text.toLowerCase())
  .refine(
    (text) => text.length <= longestAddress && addressPattern.test(text),
    `must be an address such as ann@example.com, of at most ${longestAddress} characters`,
  )
  .meta({ override: { type: 'string', format: 'email', maxLength: longestAddress } });

const scopes = z
  .array(z.enum(scopesOfUs))
  .min(1, 'must name at least one')
  .refine((list) => new Set(list).size === list.length, 'must not name one twice')
  .transform(scopesAmong)
  .meta({ override: { type: 'array', items: { type: 'string', enum: [...scopesOfUs] } } });

const [shortest, longest] = [12, 128];
const newPassword = z
  .string()
  .refine((text) => {
    const { length } = [...text];
    return length >= shortest && length <= longest;
  }, `must have ${shortest} to ${longest} characters`)
  .meta({
    override: { type: 'string', format: 'password', minLength: shortest },
    description: `${shortest} to ${longest} characters, and not easy to guess`,
  });
/** More than a new password may have, so that one set under an earlier limit still gets checked. */
const anyPassword = z.string().max(1_024);
const secret = z.string().max(128);

export const personPath = z.object({
  personId: z
    .string()
    .regex(/^per_[0-9a-f]{20}$/, 'must be the id of a person')
    .meta({ example: 'per_3f9c1d5e7b2a46801d2e' }),
});

export const personBody = z.strictObject({ email, scopes }).meta({ id: 'PersonBody' });
export const personChange = z.strictObject({ scopes }).meta({ id: 'PersonChange' });

export const person = z
  .object({
    personId: z.string().meta({ description: 'differs by organization: the same person has a different id in each' }),
    email: z.string(),
    name: nullable.meta({ description: 'null while the invitation is pending' }),
    scopes: z.array(z.enum(scopesOfUs)),
    createdAt: time,
    lastSeenAt: time.nullable(),
    passkeys: count,
    pending: z.boolean().meta({ description: 'whether the invitation waits to be accepted' }),
  })
  .meta({ id: 'Person' });
export type Person = z.infer<typeof person>;

export const invitedPerson = person
  .extend({ inviteUrl: z.string().meta({ description: 'the link, valid once within 7 days; shown only here' }) })
  .meta({ id: 'InvitedPerson' });

export const peoplePage = z.object({ people: z.array(person), nextCursor: nullable }).meta({ id: 'PeoplePage' });
export type PeoplePage = z.infer<typeof peoplePage>;

export const setupBody = z
  .strictObject({
    setup: secret.meta({ description: 'the secret of the link that `assent setup` prints' }),
    organization: name,
    name,
    email,
    password: newPassword,
    domain: name,
    origins: domainBody.shape.origins,
  })
  .meta({ id: 'SetupBody' });

export const invitationBody = z
  .strictObject({
    invite: secret.meta({ description: 'the secret of the link' }),
    name: name.optional(),
    password: newPassword.optional(),
  })
  .meta({ id: 'InvitationBody' });

export const passwordBody = z
  .strictObject({
    email: z
      .string()
      .max(1_024)
      .transform((text) => text.toLowerCase())
      .meta({ override: { type: 'string', maxLength: 1_024 } }),
    password: anyPassword,
  })
  .meta({ id: 'PasswordBody' });

export const renewBody = z
  .strictObject({ organizationId: z.string().max(64).optional().meta({ description: 'default: the one used last' }) })
  .meta({ id: 'RenewBody' });

export const signedIn = z
  .object({
    token: z.string().meta({ description: 'an access token for the organization' }),
    expiresAt: time.meta({ description: 'in 5 minutes: renew it by then' }),
    organizationId: z.string(),
    organizations: z.array(z.object({ organizationId: z.string(), name: z.string() })),
  })
  .meta({ id: 'SignedIn' });
export type SignedIn = z.infer<typeof signedIn>;

export const setUpAnswer = signedIn.extend({ domainId: z.string() }).meta({ id: 'SetUp' });

export const signOutBody = z
  .strictObject({ everywhere: z.boolean().optional().meta({ description: 'true ends all sessions of the person' }) })
  .meta({ id: 'SignOutBody' });
export const signedOut = z
  .object({ ended: count.meta({ description: 'how many sessions ended' }) })
  .meta({ id: 'SignedOut' });

export const me = z
  .object({
    email: z.string(),
    name: z.string(),
    passwordOff: z.boolean().meta({ description: 'whether they can sign in only with a passkey' }),
    createdAt: time,
  })
  .meta({ id: 'Me' });
export type Me = z.infer<typeof me>;
export const meChange = z
  .strictObject({
    name: name.optional(),
    password: newPassword.optional(),
    oldPassword: anyPassword.optional().meta({ description: 'needed with `password`' }),
    passwordOff: z
      .boolean()
      .optional()
      .meta({ description: 'true: the person can sign in only with a passkey, and must have one' }),
  })
  .refine(({ password, oldPassword }) => password === undefined || oldPassword !== undefined, {
    path: ['oldPassword'],
    message: 'is needed to change the password',
  })
  .meta({ id: 'MeChange' });

export const passkeyPath = z.object({
  passkeyId: z
    .string()
    .regex(/^pky_[0-9a-f]{20}$/, 'must be the id of a passkey')
    .meta({ example: 'pky_3f9c1d5e7b2a46801d2e' }),
});
export const passkey = z
  .object({ passkeyId: z.string(), name: z.string(), createdAt: time, lastUsedAt: time.nullable() })
  .meta({ id: 'Passkey' });
export type Passkey = z.infer<typeof passkey>;
export const passkeys = z.object({ passkeys: z.array(passkey) }).meta({ id: 'Passkeys' });

/** In WebAuthn's JSON, which only browsers read. */
const optionsOf = <Options>(id: string) =>
  z
    .custom<Options>(() => true)
    .meta({
      id,
      override: {
        type: 'object',
        properties: { challenge: { type: 'string' } },
        required: ['challenge'],
        additionalProperties: true,
      },
    });
export const creationOptions = optionsOf<PublicKeyCredentialCreationOptionsJSON>('PasskeyCreationOptions');
export const requestOptions = optionsOf<PublicKeyCredentialRequestOptionsJSON>('PasskeyRequestOptions');

const base64url = z.string().regex(/^[\w-]+$/, 'must be in base64url');
/** Other fields of the browser are dropped. */
const credentialWith = <S extends z.ZodRawShape>(response: S) =>
  z.object({
    id: base64url.max(2_048),
    rawId: base64url.max(2_048),
    type: z.literal('public-key'),
    response: z.object({ clientDataJSON: base64url, ...response }),
  });

export const passkeyBody = z
  .strictObject({
    name: name.optional().meta({ description: 'by which the person recognizes it' }),
    credential: credentialWith({
      attestationObject: base64url,
      transports: z.array(z.string().max(32)).max(8).exactOptional(),
    }),
  })
  .meta({ id: 'PasskeyBody' });
export const passkeySignInBody = z
  .strictObject({
    credential: credentialWith({
      authenticatorData: base64url,
      signature: base64url,
      userHandle: base64url.exactOptional(),
    }),
  })
  .meta({ id: 'PasskeySignInBody' });
