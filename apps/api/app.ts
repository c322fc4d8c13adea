/** The API: the order of everything, on one screen. */
import Router from '@koa/router';
import Koa from 'koa';
import compose from 'koa-compose';
import helmet from 'koa-helmet';
import { Problem } from '#libs/contract/problem';
import type { Deps, Middleware, State } from './context.ts';
import { apiKey } from './middleware/api-key.ts';
import { bearer } from './middleware/bearer.ts';
import { allowedOrigin, cors, preflight } from './middleware/cors.ts';
import { deadline } from './middleware/deadline.ts';
import { problem } from './middleware/problem.ts';
import { recordRateLimit } from './middleware/rate-limit.ts';
import { countRefusals } from './middleware/refusals.ts';
import { requestLog } from './middleware/request-log.ts';
import { demoPage } from './routes/demo.ts';
import { domainStats } from './routes/domain-stats.ts';
import { docs, openapi } from './routes/openapi.ts';
import { orgStats } from './routes/org-stats.ts';
import { organization } from './routes/organization.ts';
import { record } from './routes/record.ts';
import { records } from './routes/records.ts';
import { widgetFiles } from './routes/widget.ts';

export function createApp(deps: Deps): Koa<State> {
  const app = new Koa<State>(clientAddresses(deps.config.trustedProxyHops));
  const router = new Router<State>({ sensitive: true, strict: true });
  const recording = '/v1/consent/:domainId/record';

  router.options(recording, cors(deps), preflight);
  const recordOne = compose([
    countRefusals(deps),
    cors(deps),
    apiKey(deps),
    allowedOrigin,
    recordRateLimit(deps),
    record(deps),
  ]);
  router.post(recording, recordOne);

  router.get('/v1/consent/org-stats', noStore, deadline, bearer(deps), orgStats(deps));
  router.get('/v1/consent/:domainId/stats', noStore, deadline, bearer(deps), domainStats(deps));
  router.get('/v1/consent/:domainId/records', noStore, deadline, bearer(deps), records(deps));
  router.get('/v1/organization', noStore, deadline, bearer(deps), organization(deps));

  router.get('/openapi.json', openapi());
  for (const [path, serve] of Object.entries(docs())) router.get(path, docsHeaders, serve);
  for (const [path, serve] of Object.entries(widgetFiles(deps))) router.get(path, deadline, serve);
  for (const [path, serve] of Object.entries(demoPage(deps))) router.get(path, demoHeaders, deadline, serve);

  app.use(requestLog(deps));
  app.use(problem(deps));
  app.use(everyRequest);
  app.use(shortcut(recording, recordOne));
  app.use(router.routes());
  app.use(methodNotAllowed);
  app.on('error', (error: unknown) => deps.log.warn({ err: error }, 'a response failed'));
  return app;
}

/** Without trusted hops Koa ignores X-Forwarded-For; with them it takes only as many entries from its end. */
const clientAddresses = (hops: number) => (hops > 0 ? { proxy: true, maxIpsCount: hops } : {});

const everyRequest: Middleware = (ctx, next) => {
  ctx.set('X-Content-Type-Options', 'nosniff');
  // HTTP/1.1 demands it (RFC 9112, 3.2); Node's own refusal would have no body
  if (ctx.req.headers.host === undefined && ctx.req.httpVersion === '1.1') {
    throw new Problem('invalid_request', 'send a Host header');
  }
  return next();
};

const recordPath = /^\/v1\/consent\/([A-Za-z0-9_-]{1,64})\/record$/;

/** Floods come on one path: it is matched by hand, before the router goes through its list. It answers the same. */
const shortcut =
  (route: string, handle: Middleware): Middleware =>
  (ctx, next) => {
    const match = ctx.req.method === 'POST' ? recordPath.exec(ctx.req.url ?? '') : null;
    if (!match) return next();
    ctx.params = { domainId: match[1] };
    ctx._matchedRoute = route;
    return handle(ctx, next);
  };

const noStore: Middleware = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  await next();
};

/** A page from the service itself loads nothing from elsewhere, runs nothing inline and is framed by nobody. */
const pageHeaders = (directives: Record<string, string[]>): Middleware =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        ...directives,
      },
    },
    // whether there is TLS in front is the operator's matter
    strictTransportSecurity: false,
  });

// Swagger UI sets style attributes and inlines its icons
const docsHeaders = pageHeaders({ styleSrc: ["'self'", "'unsafe-inline'"], imgSrc: ["'self'", 'data:'] });
const demoHeaders = pageHeaders({ styleSrc: ["'self'"], imgSrc: ["'self'"] });

/** The path is known, but not with this method. */
const methodNotAllowed: Middleware = async (ctx, next) => {
  const layers: { methods: string[] }[] = ctx.matched ?? [];
  const methods = [...new Set(layers.flatMap((layer) => layer.methods))];
  if (methods.length > 0 && ctx.status === 404 && !ctx._matchedRoute) {
    throw new Problem('method_not_allowed', `this path takes ${methods.join(', ')}`, {
      headers: { Allow: methods.join(', ') },
    });
  }
  await next();
};
