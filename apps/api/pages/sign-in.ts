/** GET /v1/sign-in: how the dashboard lets people sign in. Nothing in it is secret. */
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import type { SignIn } from '#libs/tenants/contract';

interface Parts {
  config: Pick<SignIn, 'oidc'>;
  accounts: object | undefined;
}

export const signInOffer = ({ config: { oidc }, accounts }: Parts): Middleware =>
  guard({}, (ctx) => {
    const answer: SignIn = { oidc, accounts: accounts !== undefined };
    ctx.body = answer;
  });
