/** GET /v1/sign-in: how the dashboard lets people sign in. Nothing in it is secret. */
import { z } from 'zod';
import { noQuery } from '#libs/contract/queries';
import type { SignIn } from '#libs/contract/sign-in';
import type { Middleware } from '../http/context.ts';
import { guard } from '../http/guard.ts';

export const signIn = ({ config: { oidc } }: { config: SignIn }): Middleware =>
  guard({ params: z.object({}), query: noQuery }, (ctx) => {
    const answer: SignIn = { oidc };
    ctx.body = answer;
  });
