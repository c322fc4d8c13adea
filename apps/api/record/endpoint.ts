/**
 * The record endpoint's path and methods. Floods come here, and a router would take a tenth of a record's processor time
 * (`docs/benchmarks.md`), so this one path is matched before the router.
 */
import { anyPageMayRead } from '../access/cors.ts';
import type { Context, Middleware } from '../http/context.ts';
import { methodNotAllowed } from '../http/routes.ts';
import { forDocuments } from '../http/security-headers.ts';

const path = '/v1/consent/:domainId/record';
const pattern = new RegExp(`^${path.replace(':domainId', '([^/]+)')}$`);

type Handler = (ctx: Context) => Promise<void>;

export function recordEndpoint(handlers: { OPTIONS: Handler; POST: Handler }): Middleware {
  return (ctx, next) => {
    const domainId = domainIdIn(ctx.path);
    if (domainId === undefined) return next();
    ctx.params = { domainId };
    ctx.state.route = path;
    if (ctx.method === 'POST') return handlers.POST(ctx);
    if (ctx.method === 'OPTIONS') return handlers.OPTIONS(ctx);
    ctx.set(forDocuments);
    anyPageMayRead(ctx);
    throw methodNotAllowed(Object.keys(handlers));
  };
}

function domainIdIn(requestPath: string): string | undefined {
  const [, domainId] = pattern.exec(requestPath) ?? [];
  if (domainId === undefined) return undefined;
  try {
    return decodeURIComponent(domainId);
  } catch {
    return domainId;
  }
}
