/** Responses to unknown methods. */
import { Problem } from '../terms/problem.ts';
import type { Middleware } from './context.ts';

export const methodNotAllowed = (methods: string[]): Problem =>
  new Problem('method_not_allowed', `allowed methods: ${methods.join(', ')}`, {
    headers: { Allow: methods.join(', ') },
  });

/** After the router: the path is known, but not with this method. */
export const refuseOtherMethods: Middleware = async (ctx, next) => {
  const layers: { methods: string[] }[] = ctx.matched ?? [];
  const methods = [...new Set(layers.flatMap((layer) => layer.methods))];
  if (methods.length > 0 && ctx.status === 404 && !ctx._matchedRoute) throw methodNotAllowed(methods);
  await next();
};
