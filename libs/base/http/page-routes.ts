/**
 * What pages send with an API key. Floods come here, and through the router a request would take more processor time, so
 * these paths are matched before it.
 */
import type { Context, Middleware, Step } from './context.ts';
import { methodNotAllowed } from './methods.ts';
import type { KeyRoute } from './routes.ts';
import { forDocuments } from './security-headers.ts';

interface PageRoute extends Pick<KeyRoute, 'path'> {
  OPTIONS: Step[];
  POST: Step[];
  /** sees what a step of a POST threw */
  onRefusal?: (ctx: Context, error: unknown) => void;
}

/** that a page of another site may read of an answer */
export const exposedHeaders = 'Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Preference-Applied';

const domainPath = '/v1/consent/:domainId/';
const pattern = new RegExp(`^${domainPath.replace(':domainId', '([^/?]+)')}([a-z]+)(?:\\?|$)`);

/**
 * By what follows the domain in the path. The steps of a request follow one another, and only those that take time are
 * waited for.
 */
export function pageRoutes(routes: PageRoute[]): Middleware {
  const known = new Map(routes.map((route) => [route.path.replace(domainPath, ''), route]));
  const take = async (ctx: Context, steps: Step[]): Promise<void> => {
    for (const step of steps) {
      const pending = step(ctx);
      if (pending) await pending;
    }
  };
  const post = async (ctx: Context, { POST, onRefusal }: PageRoute): Promise<void> => {
    try {
      await take(ctx, POST);
    } catch (error) {
      onRefusal?.(ctx, error);
      throw error;
    }
  };
  return (ctx, next) => {
    const [, domainId = '', name = ''] = pattern.exec(ctx.url) ?? [];
    const route = known.get(name);
    if (!route) return next();
    ctx.params = { domainId: decoded(domainId) };
    ctx.state.route = route.path;
    if (ctx.method === 'POST') return post(ctx, route);
    if (ctx.method === 'OPTIONS') return take(ctx, route.OPTIONS);
    ctx.set(forDocuments);
    anyPageMayRead(ctx);
    throw methodNotAllowed(['OPTIONS', 'POST']);
  };
}

/** For an error that reveals nothing about a domain. */
function anyPageMayRead(ctx: Context): void {
  ctx.set('Vary', 'Origin');
  if (!ctx.req.headers.origin) return;
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', exposedHeaders);
}

function decoded(domainId: string): string {
  if (!domainId.includes('%')) return domainId;
  try {
    return decodeURIComponent(domainId);
  } catch {
    return domainId;
  }
}
