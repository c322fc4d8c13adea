/** GET /v1/sign-in: how the dashboard lets people sign in. Nothing in it is secret. */
import { z } from 'zod';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { noQuery } from '#libs/base/terms/parameters';
import type { SignIn } from '#libs/tenants/contract';

export const signIn = ({ config: { oidc } }: { config: SignIn }): Middleware =>
  guard({ params: z.object({}), query: noQuery }, (ctx) => {
    const answer: SignIn = { oidc };
    ctx.body = answer;
  });
