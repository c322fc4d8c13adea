/** A request's route, for metrics, and the answers to unknown methods. */
import { Problem } from '#libs/contract/problem';
import type { Context, Middleware } from './context.ts';

/** The path as it was registered; for a path that is not, `none`. */
export const routeOf = (ctx: Context): string => String(ctx.state.route ?? ctx._matchedRoute ?? 'none');

export const methodNotAllowed = (methods: string[]): Problem =>
  new Problem('method_not_allowed', `allowed methods: ${methods.join(', ')}`, {
    headers: { Allow: methods.join(', ') },
  });

/** Behind the router: the path is known, but not with this method. */
export const refuseOtherMethods: Middleware = async (ctx, next) => {
  const layers: { methods: string[] }[] = ctx.matched ?? [];
  const methods = [...new Set(layers.flatMap((layer) => layer.methods))];
  if (methods.length > 0 && ctx.status === 404 && !ctx._matchedRoute) throw methodNotAllowed(methods);
  await next();
};
