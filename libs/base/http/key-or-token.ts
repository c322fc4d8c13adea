/** Endpoints for pages, with an API key, and for an organization's own servers, with an access token instead. */
import type { Context, Middleware, Step } from './context.ts';

/** A key is what pages send, so it decides. */
export const sendsToken = (ctx: Context): boolean => ctx.get('x-api-key') === '' && ctx.get('authorization') !== '';

export const withKey =
  (...steps: Step[]): Middleware =>
  async (ctx, next) => {
    if (!sendsToken(ctx)) for (const step of steps) await step(ctx);
    await next();
  };

export const withToken =
  (middleware: Middleware): Middleware =>
  (ctx, next) =>
    sendsToken(ctx) ? middleware(ctx, next) : next();
