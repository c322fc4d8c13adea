/** CORS for what takes an API key: which origins may record for a domain. Errors carry the headers too, so that pages can read them. */

import type { Context, Step } from '#libs/base/http/context';
import { exposedHeaders } from '#libs/base/http/page-routes';
import { isAllowed } from '#libs/base/terms/origin';
import { Problem } from '#libs/base/terms/problem';
import { domainIn } from './api-key.ts';
import { domainOfPath, type FailedCredentials } from './failed-credentials.ts';
import type { RefusedOriginLog } from './refused-origins.ts';
import type { TenantCache } from './tenant-cache.ts';

/** Sets the headers that let the page read the answer; the origin is refused only after the key is checked. */
export function cors(deps: { tenants: TenantCache; failedKeys: FailedCredentials }): Step {
  const lookUp = async (ctx: Context, origin: string) => {
    // if the list cannot be read, the page may at least read the error
    const domain = await domainOfPath(ctx, deps).catch(() => undefined);
    // a preflight for an unknown domain is a guess; a record is counted with its key
    if (domain === null && ctx.method === 'OPTIONS') deps.failedKeys.count(ctx);
    // an unknown domain looks like one without a list: the page can read that its key is refused
    allow(ctx, origin, domain?.origins ?? []);
  };
  return (ctx) => {
    ctx.res.setHeader('Vary', 'Origin');
    const { origin } = ctx.req.headers;
    if (!origin) return undefined;
    const known = deps.tenants.knownDomain(ctx.params.domainId ?? '');
    return known ? allow(ctx, origin, known.origins) : lookUp(ctx, origin);
  };
}

function allow({ res }: Context, origin: string, origins: string[]): void {
  if (!isAllowed(origins, origin)) return;
  res.setHeader('Access-Control-Allow-Origin', origins.length === 0 ? '*' : origin);
  res.setHeader('Access-Control-Expose-Headers', exposedHeaders);
}

/** Refuses by the list that came with the key, which is known even while Postgres is down. */
export const allowedOrigin =
  ({ refusedOrigins }: { refusedOrigins: RefusedOriginLog }): Step =>
  (ctx) => {
    const { origin } = ctx.req.headers;
    const { domainId, origins } = domainIn(ctx);
    if (origin && !isAllowed(origins, origin)) {
      refusedOrigins.note(domainId, origin);
      ctx.remove('Access-Control-Allow-Origin');
      throw new Problem('origin_not_allowed', 'this origin is not allowed for this domain');
    }
  };

/** `methods`: those of the path that pages use. A browser that is refused here never sends its key, so it is noted without. */
export const preflight =
  ({ refusedOrigins }: { refusedOrigins: RefusedOriginLog }, methods: string): Step =>
  (ctx) => {
    const { origin } = ctx.req.headers;
    if (origin && !ctx.response.get('Access-Control-Allow-Origin')) {
      refusedOrigins.note(ctx.params.domainId ?? '', origin);
      throw new Problem('origin_not_allowed', 'this origin is not allowed for this domain');
    }
    ctx.set('Access-Control-Allow-Methods', methods);
    ctx.set('Access-Control-Allow-Headers', 'content-type, x-api-key, prefer');
    ctx.set('Access-Control-Max-Age', '86400');
    ctx.status = 204;
  };
