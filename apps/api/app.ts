/** The API: the order of its checks and endpoints. */
import Router from '@koa/router';
import Koa from 'koa';
import * as banner from '#libs/banner/handlers';
import { bannerRoutes } from '#libs/banner/routes';
import { clientAddress, network } from '#libs/base/http/client-address';
import type { Middleware, State } from '#libs/base/http/context';
import { deadline } from '#libs/base/http/deadline';
import { exchange } from '#libs/base/http/exchange';
import { refuseOtherMethods } from '#libs/base/http/methods';
import type { Route } from '#libs/base/http/routes';
import { documentHeaders, readHeaders } from '#libs/base/http/security-headers';
import { limitUnreadResponses } from '#libs/base/http/unread-responses';
import { getCurrent, lookUpCurrent } from '#libs/current/handlers';
import { currentRoutes } from '#libs/current/routes';
import { exportDomain, exportOrganization } from '#libs/log/export';
import { getFeed } from '#libs/log/feed';
import { importRecords } from '#libs/log/import';
import { getImports } from '#libs/log/imports';
import { getOrganizationStats } from '#libs/log/org-stats';
import { getRecord, getRecords } from '#libs/log/records';
import { logRoutes } from '#libs/log/routes';
import { getNotice, getNotices } from '#libs/notices/handlers';
import { noticeRoutes } from '#libs/notices/routes';
import * as people from '#libs/people/handlers';
import * as joining from '#libs/people/link-handlers';
import * as passkeys from '#libs/people/passkey-handlers';
import { peopleRoutes, signInRoutes } from '#libs/people/routes';
import { fromOwnPages } from '#libs/people/sessions';
import * as signingIn from '#libs/people/sign-in';
import { getErasure, getErasures, lookupActs, visitorHandlers } from '#libs/privacy/handlers';
import { privacyRoutes } from '#libs/privacy/routes';
import * as proof from '#libs/proof/handlers';
import { proofRoutes } from '#libs/proof/routes';
import { getOrganization } from '#libs/stats/get-organization';
import { getDomainStats, getStats } from '#libs/stats/handlers';
import { statsRoutes } from '#libs/stats/routes';
import { bearer, changeRateLimit, readRateLimit, revocationRateLimit, scope, someScope } from '#libs/tenants/bearer';
import * as tenants from '#libs/tenants/handlers';
import { changeInSlot, readInSlot } from '#libs/tenants/request-slots';
import { manageRoutes } from '#libs/tenants/routes';
import * as webhooks from '#libs/webhooks/handlers';
import { webhookRoutes } from '#libs/webhooks/routes';
import { type AppParts, createDeps } from './deps.ts';
import { addPages } from './pages/pages.ts';
import { atPublicName } from './pages/public-name.ts';
import { addSiteEndpoints, recordEndpoints } from './site-endpoints.ts';

const exact = { sensitive: true, strict: true };
const signInNames = Object.keys(signInRoutes) as (keyof typeof signInRoutes)[];

export function createApp(given: AppParts): Koa<State> {
  const deps = createDeps(given);
  const app = new Koa<State>(clientAddresses(deps.config.trustedProxyHops));
  // a router compares a path with all of its routes, so each kind of endpoint has its own
  const endpoints = new Router<State>(exact);
  const pages = new Router<State>(exact);
  const open = new Router<State>(exact);

  const token = bearer(deps);
  const readRate = readRateLimit(deps.config.readRatePerMinute);
  const byToken = (scoped: Middleware, rate: Middleware[] = [readRate]) => [readHeaders, token, ...rate, scoped];
  // statistics by a dimension come from Postgres, all others from Redis
  const [ofPostgres, ofRedis] = [readInSlot(deps.slots.reads), readInSlot(deps.slots.statistics)];
  const byDimension: Middleware = (ctx, next) =>
    (new URLSearchParams(ctx.querystring).has('by') ? ofPostgres : ofRedis)(ctx, next);
  const change = changeInSlot(deps.slots.changes);
  const limitsOf = {
    reads: [ofPostgres],
    statistics: [byDimension],
    current: [readInSlot(deps.slots.current)],
    changes: [changeRateLimit(deps.config.changeRatePerMinute), change],
    revocations: [revocationRateLimit(deps.config.changeRatePerMinute), change],
    own: [],
  };
  /** A change is in force in this process before the response, and in others within a second. */
  const inForce: Middleware = async (_, next) => {
    await next();
    await deps.tenants.catchUp();
  };
  /** Adds each row with the handler of the same name. */
  const mount = <Name extends string>(
    routes: Record<Name, Route>,
    handlers: Record<NoInfer<Name>, (parts: typeof deps) => Middleware>,
  ) => {
    for (const name in routes) {
      const row: Route = routes[name];
      const ended = row.hasNoDeadline ? [] : [deadline];
      const scoped = row.scope === 'any' ? someScope : scope(...row.scope);
      const awaited = row.inForce ? [inForce] : [];
      const also = row.alsoNeeds ? [scope(row.alsoNeeds)] : [];
      // lookups of current decisions are limited by how many visitors they ask for, not by how many requests
      const rates = row.limits === 'current' ? [] : [readRate];
      const checks = [...ended, ...byToken(scoped, rates), ...also, ...limitsOf[row.limits], ...awaited];
      endpoints[row.method](row.path, ...checks, handlers[name](deps));
    }
  };
  mount(statsRoutes, { getDomainStats, getStats, getOrganization });
  mount(currentRoutes, { lookUpCurrent, getCurrent });
  mount(logRoutes, {
    getOrganizationStats,
    getRecords,
    getRecord,
    getFeed,
    exportDomain,
    exportOrganization,
    importRecords,
    getImports,
  });
  mount(proofRoutes, proof);
  mount(noticeRoutes, { getNotices, getNotice });
  mount(privacyRoutes, { ...visitorHandlers, getErasures, getErasure, lookupActs });
  mount(manageRoutes, tenants);
  mount(bannerRoutes, banner);
  mount(webhookRoutes, webhooks);
  mount(peopleRoutes, { ...people, ...passkeys });

  addSiteEndpoints(open, deps, byToken(scope('manage')));

  // sign-in, only from our own pages: by password, passkey, link or session cookie. A person who is already signed in may
  // accept an invitation with their token.
  const tokenIfAny: Middleware = (ctx, next) => (ctx.get('authorization') === '' ? next() : token(ctx, next));
  const signIn = { ...signingIn, ...joining, ...passkeys };
  for (const name of signInNames) {
    const handlers = [...(name === 'acceptInvitation' ? [tokenIfAny] : []), signIn[name](deps)];
    open.post(signInRoutes[name].path, readHeaders, deadline, fromOwnPages(deps), ...handlers);
  }

  addPages(pages, deps);

  app.use(exchange({ ...deps, home: `${deps.config.basePath}/` }));
  app.use(recordEndpoints(deps));
  app.use(
    limitUnreadResponses(
      deps.unreadResponses,
      (ctx) => ctx.state.organization?.organizationId ?? network(clientAddress(ctx)),
    ),
  );
  app.use(endpoints.routes());
  app.use(open.routes());
  app.use(atPublicName(deps.config));
  app.use(pages.routes());
  app.use(documentHeaders);
  app.use(refuseOtherMethods);
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (leftEarly.has(error.code))
      deps.log.debug({ code: error.code }, 'a client left before its response was complete');
    else deps.log.warn({ event: 'response_failed', err: error }, 'a response failed');
  });
  return app;
}

const leftEarly = new Set<string | undefined>(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Without trusted hops Koa ignores X-Forwarded-For; with them it uses only that many entries at its end. */
const clientAddresses = (hops: number) => (hops > 0 ? { proxy: true, maxIpsCount: hops } : {});
