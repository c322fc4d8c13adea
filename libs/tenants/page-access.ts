/**
 * Requests that pages send with an API key. Floods arrive here, so the paths of records and displays are matched before
 * the router, which takes more processor time. The origin (CORS), the key and the rate are checked. Errors have the
 * headers of CORS, so that pages can read them. Every problem with the key or the domain has the same response.
 */

import { clientAddress, network } from '#libs/base/http/client-address';
import type { Context, Middleware, Step } from '#libs/base/http/context';
import { createLimiter } from '#libs/base/http/limiter';
import { methodNotAllowed } from '#libs/base/http/methods';
import type { KeyRoute } from '#libs/base/http/routes';
import { forDocuments } from '#libs/base/http/security-headers';
import { isAllowed } from '#libs/base/terms/origin';
import { Problem } from '#libs/base/terms/problem';
import { domainOfPath, type FailedCredentials } from './failed-credentials.ts';
import type { RefusedOriginLog } from './refused-origins.ts';
import type { TenantCache } from './tenant-cache.ts';
import type { Domain } from './tenants.ts';

declare module '#libs/base/http/context' {
  interface State {
    /** the domain of the API key, or of the path where none is needed */
    domain?: Domain;
  }
}

interface PageRoute extends Pick<KeyRoute, 'path'> {
  OPTIONS: Step[];
  POST: Step[];
  /** sees what a step of a POST threw */
  onRefusal?: (ctx: Context, error: unknown) => void;
}

/** response headers that a page of another site may read */
const exposedHeaders = 'Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Preference-Applied';

const domainPath = '/v1/consent/:domainId/';
const pattern = new RegExp(`^${domainPath.replace(':domainId', '([^/?]+)')}([a-z]+)(?:\\?|$)`);

/** Routes by what follows the domain in the path. Only steps that return a promise are awaited. */
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

/** Sets the headers that let the page read the response; the origin is refused only after the key is checked. */
export function cors(deps: { tenants: TenantCache; failedKeys: FailedCredentials }): Step {
  const lookUp = async (ctx: Context, origin: string) => {
    // if the list cannot be read, the page may at least read the error
    const domain = await domainOfPath(ctx, deps).catch(() => undefined);
    // a preflight for an unknown domain counts as a guess; a POST is counted when its key is checked
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

/** Refuses by the list of the key's domain, which is known even while Postgres is down. */
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

/**
 * `methods`: the methods of this path that pages use. A browser that is refused here never sends its key, so its origin is
 * noted without one.
 */
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

/** One detail for every problem. It mentions beacons, which pages use while they close. */
const howTo =
  'send the x-api-key of this domain (data-key and data-domain in a widget’s tag); navigator.sendBeacon cannot send this header, fetch with keepalive: true can';

export function apiKey({ tenants, failedKeys }: { tenants: TenantCache; failedKeys: FailedCredentials }): Step {
  const lookUp = async (ctx: Context, known: Domain | undefined) => {
    failedKeys.check(ctx);
    const domain = known ?? (await tenants.domainOfKey(ctx.get('x-api-key')));
    if (!domain || domain.domainId !== ctx.params.domainId) {
      failedKeys.countOrThrow(ctx);
      throw new Problem('invalid_api_key', howTo);
    }
    ctx.state.domain = domain;
  };
  return (ctx) => {
    // a key known to this process skips the limit on failures: guesses from the same address cannot block it
    const known = tenants.knownDomainOfKey(ctx.get('x-api-key'));
    if (!known || known.domainId !== ctx.params.domainId) return lookUp(ctx, known);
    ctx.state.domain = known;
    return undefined;
  };
}

/** For requests without a key: finds the domain in the path. */
export function domainOfPage({ tenants, failedKeys }: { tenants: TenantCache; failedKeys: FailedCredentials }): Step {
  return async (ctx) => {
    const { domainId = '' } = ctx.params;
    let domain: Domain | null | undefined = tenants.knownDomain(domainId);
    if (!domain) {
      failedKeys.check(ctx);
      domain = await tenants.domain(domainId);
    }
    if (!domain) {
      failedKeys.countOrThrow(ctx);
      throw new Problem('not_found', 'no such domain is in use');
    }
    ctx.state.domain = domain;
  };
}

/** The domain of a request that passed `apiKey` or `domainOfPage`. */
export function domainIn(ctx: Context): Domain {
  if (!ctx.state.domain) throw new Error('the route lacks the apiKey middleware');
  return ctx.state.domain;
}

/** `limit`: a minute, per client network and domain; 0: any number. */
export function pageRateLimit(name: 'record' | 'display' | 'place' | 'check', limit: number): Step {
  const detail = `at most ${limit} ${name}s a minute from one address`;
  const limiter = createLimiter({ name, limit, detail });
  return (ctx) => limiter.admit(ctx, `${network(clientAddress(ctx))} ${domainIn(ctx).domainId}`);
}

/**
 * For endpoints that also accept an access token of an organization's own servers. A request with an API key counts as a
 * page's, even if it also has a token.
 */
export const sendsToken = (ctx: Context): boolean => ctx.get('x-api-key') === '' && ctx.get('authorization') !== '';

export const bySteps =
  (...steps: Step[]): Middleware =>
  async (ctx, next) => {
    for (const step of steps) await step(ctx);
    await next();
  };

export const withKey = (...steps: Step[]): Middleware => {
  const checks = bySteps(...steps);
  return (ctx, next) => (sendsToken(ctx) ? next() : checks(ctx, next));
};

export const withToken =
  (middleware: Middleware): Middleware =>
  (ctx, next) =>
    sendsToken(ctx) ? middleware(ctx, next) : next();
