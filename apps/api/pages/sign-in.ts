/** GET /v1/sign-in: how the dashboard lets people sign in. Nothing in it is secret. */
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import type { SignIn } from '#libs/tenants/contract';

export const signIn = ({ config: { oidc } }: { config: SignIn }): Middleware =>
  guard({}, (ctx) => {
    const answer: SignIn = { oidc };
    ctx.body = answer;
  });
