/** Passkeys, with what browsers send and take in the JSON of WebAuthn. */
import { z } from 'zod';
import { time } from '#libs/base/terms/response-fields';
import { name } from '#libs/tenants/contract';

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

/** Browsers may learn more of them. */
export const passkeyOptions = z.looseObject({ challenge: z.string() }).meta({ id: 'PasskeyOptions' });

const base64url = z.string().regex(/^[\w-]+$/, 'must be in base64url');
/** What else a browser sends is left out. */
const credentialWith = <S extends z.ZodRawShape>(response: S) =>
  z.object({
    id: base64url.max(2_048),
    rawId: base64url.max(2_048),
    type: z.literal('public-key'),
    response: z.object({ clientDataJSON: base64url, ...response }),
    clientExtensionResults: z.object({}).default({}),
  });

export const passkeyBody = z
  .strictObject({
    name: name.default('Passkey').meta({ description: 'by which the person recognizes it' }),
    credential: credentialWith({
      attestationObject: base64url,
      transports: z.array(z.string().max(32)).max(8).default([]),
    }),
  })
  .meta({ id: 'PasskeyBody' });

export const passkeySignInBody = z
  .strictObject({
    credential: credentialWith({ authenticatorData: base64url, signature: base64url, userHandle: base64url }),
  })
  .meta({ id: 'PasskeySignInBody' });
