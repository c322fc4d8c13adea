/** How people sign in to the dashboard, beside access tokens. */
import { z } from 'zod';

export const signIn = z
  .object({
    oidc: z
      .object({
        issuer: z.string(),
        clientId: z.string(),
        scopes: z.array(z.string()).meta({ description: 'that the dashboard asks for' }),
        audience: z.string().nullable().meta({ description: 'whom access tokens are asked for' }),
      })
      .nullable()
      .meta({ description: 'an OpenID Connect provider; null: there is none' }),
  })
  .meta({ id: 'SignIn' });
export type SignIn = z.infer<typeof signIn>;
export type Provider = NonNullable<SignIn['oidc']>;
