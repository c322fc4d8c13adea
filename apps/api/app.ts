/** The API: the order of everything. */
import Router from '@koa/router';
import Koa from 'koa';
import * as banner from '#libs/banner/handlers';
import type { LiveBanners } from '#libs/banner/live';
import { lookUpHosts, storeCheck } from '#libs/banner/post-check';
import { bannerRoutes, siteCheckRoutes } from '#libs/banner/routes';
import type { Clock } from '#libs/base/db/clock';
import type { Database } from '#libs/base/db/database';
import type { LaggingReads } from '#libs/base/db/replica';
import { clientAddress, network } from '#libs/base/http/client-address';
import type { Middleware, State } from '#libs/base/http/context';
import { deadline } from '#libs/base/http/deadline';
import { exchange } from '#libs/base/http/exchange';
import { refuseOtherMethods } from '#libs/base/http/methods';
import type { Route } from '#libs/base/http/routes';
import {
  dashboardHeaders,
  demoHeaders,
  docsHeaders,
  documentHeaders,
  previewHeaders,
  readHeaders,
} from '#libs/base/http/security-headers';
import { createUnreadResponses, limitUnreadResponses } from '#libs/base/http/unread-responses';
import type { BaseMetrics } from '#libs/base/ops/metrics';
import type { Log } from '#libs/base/ops/process-log';
import type { Tracing } from '#libs/base/ops/tracing';
import type { RedisConnection } from '#libs/base/redis/connection';
import { createCurrentLimit, getCurrent, lookUpCurrent } from '#libs/current/handlers';
import type { CurrentMetrics } from '#libs/current/metrics';
import { createNewestReader } from '#libs/current/newest';
import { currentRoutes } from '#libs/current/routes';
import { exportDomain, exportOrganization } from '#libs/log/export';
import { getFeed } from '#libs/log/feed';
import { importRecords } from '#libs/log/import';
import { getImports } from '#libs/log/imports';
import { getOrganizationStats } from '#libs/log/org-stats';
import { getRecord, getRecords } from '#libs/log/records';
import { logRoutes } from '#libs/log/routes';
import { getNotice, getNotices, putNotice } from '#libs/notices/handlers';
import type { KnownNotices } from '#libs/notices/known-notices';
import { noticeKeyRoutes, noticeRoutes } from '#libs/notices/routes';
import { createAttempts } from '#libs/people/attempts';
import * as people from '#libs/people/handlers';
import * as joining from '#libs/people/joining';
import type { PeopleMetrics } from '#libs/people/metrics';
import * as passkeys from '#libs/people/passkey-handlers';
import type { Cost } from '#libs/people/passwords';
import { peopleRoutes, signInRoutes } from '#libs/people/routes';
import { createAccounts, fromOwnPages } from '#libs/people/sessions';
import * as signingIn from '#libs/people/sign-in';
import { getPlace } from '#libs/place/get-place';
import type { PlaceOf } from '#libs/place/place-of';
import { placeRoutes } from '#libs/place/routes';
import { createFindErasedVisitors } from '#libs/privacy/erased-visitors';
import { getErasure, getErasures, visitorHandlers } from '#libs/privacy/handlers';
import { privacyRoutes } from '#libs/privacy/routes';
import { lookupActs } from '#libs/privacy/visitor-acts';
import * as proof from '#libs/proof/handlers';
import { proofRoutes } from '#libs/proof/routes';
import { createNoteBusy } from '#libs/record/busy-visitors';
import { recordFields } from '#libs/record/contract';
import { countRefusal } from '#libs/record/count-refusals';
import { createNoteLeftOut } from '#libs/record/left-out';
import type { RecordMetrics } from '#libs/record/metrics';
import { record } from '#libs/record/post';
import type { Recorder } from '#libs/record/recorder';
import { recordRoutes } from '#libs/record/routes';
import type { StoredThrough } from '#libs/record/stored-through';
import type { CounterReader } from '#libs/stats/counter-reader';
import type { DisplayCounter } from '#libs/stats/display-counter';
import type { FacetReader } from '#libs/stats/facets';
import { getDomainStats, getStats } from '#libs/stats/handlers';
import { createCrawlerCount } from '#libs/stats/limit';
import type { StatsMetrics } from '#libs/stats/metrics';
import { getOrganization } from '#libs/stats/organization-usage';
import { countDisplay } from '#libs/stats/post-display';
import { displayRoutes, statsRoutes } from '#libs/stats/routes';
import { bearer, changeRateLimit, readRateLimit, revocationRateLimit, scope, someScope } from '#libs/tenants/bearer';
import { createFailedCredentials } from '#libs/tenants/failed-credentials';
import * as tenants from '#libs/tenants/handlers';
import { createIgnoredFieldLog } from '#libs/tenants/ignored-fields';
import type { LogReads } from '#libs/tenants/log-reads';
import {
  allowedOrigin,
  apiKey,
  bySteps,
  cors,
  domainOfPage,
  pageRateLimit,
  pageRoutes,
  preflight,
  withKey,
  withToken,
} from '#libs/tenants/page-access';
import { createRefusedOriginLog } from '#libs/tenants/refused-origins';
import { changeInPlace, readInPlace } from '#libs/tenants/request-places';
import { manageRoutes } from '#libs/tenants/routes';
import type { SharedPlaces } from '#libs/tenants/shared-places';
import type { TenantCache } from '#libs/tenants/tenant-cache';
import { createVisitorReads } from '#libs/tenants/visitor-reads';
import * as webhooks from '#libs/webhooks/handlers';
import { webhookRoutes } from '#libs/webhooks/routes';
import type { ApiConfig } from '../settings/api.ts';
import { bannerScript } from './pages/banner.ts';
import { dashboard } from './pages/dashboard.ts';
import { demoPage } from './pages/demo.ts';
import { docs, openapi } from './pages/docs.ts';
import { preview } from './pages/preview.ts';
import { atPublicName } from './pages/public-name.ts';
import { signInOffer } from './pages/sign-in.ts';
import { verifyPage } from './pages/verify.ts';
import { widgetFiles } from './pages/widget.ts';
import type { WidgetCache } from './pages/widget-cache.ts';

const exact = { sensitive: true, strict: true };
const signInNames = Object.keys(signInRoutes) as (keyof typeof signInRoutes)[];

/** Created once, in serve.ts; each room is handed what it says it needs. */
interface AppParts {
  config: Omit<ApiConfig, 'opsPort'>;
  /** the pages' builds lie in it */
  build: URL;
  placeOf: PlaceOf;
  log: Log;
  metrics: BaseMetrics & RecordMetrics & StatsMetrics & PeopleMetrics & CurrentMetrics;
  tracing: Tracing | undefined;
  db: Database;
  /** fails fast */
  redis: RedisConnection;
  /** the same database, or a replica of it that may lag */
  readDb: LaggingReads;
  tenants: TenantCache;
  notices: KnownNotices;
  clock: Clock;
  recorder: Recorder;
  storedThrough: StoredThrough;
  counters: CounterReader;
  facets: FacetReader;
  displays: DisplayCounter;
  logReads: LogReads;
  widget: WidgetCache;
  banners: LiveBanners;
  places: SharedPlaces;
  passwordCost: Cost | undefined;
}

export function createApp(given: AppParts): Koa<State> {
  const failedKeys = createFailedCredentials('key', given.config.failureRatePerMinute);
  const failedTokens = createFailedCredentials('token', given.config.failureRatePerMinute);
  const noteVisitorRead = createVisitorReads(given);
  const noteBusy = createNoteBusy(given);
  const countCrawlers = createCrawlerCount(given.db);
  const refusedOrigins = createRefusedOriginLog(given);
  const noteLeftOut = createNoteLeftOut({
    ...given,
    ignoredFields: createIgnoredFieldLog(given),
    fields: recordFields,
  });
  const unreadResponses = createUnreadResponses();
  const attempts = createAttempts(given.config.failureRatePerMinute, given.metrics, given.passwordCost);
  const accounts = createAccounts(given.config);
  const newest = createNewestReader(given.db, createFindErasedVisitors(given.config.privacyKey));
  const currentLimit = createCurrentLimit(given.config.currentRatePerMinute);
  const deps = {
    ...given,
    failedKeys,
    failedTokens,
    noteVisitorRead,
    noteBusy,
    countCrawlers,
    refusedOrigins,
    noteLeftOut,
    unreadResponses,
    attempts,
    accounts,
    newest,
    currentLimit,
  };
  const app = new Koa<State>(clientAddresses(deps.config.trustedProxyHops));
  // a router compares a path with all of its routes, so what needs a token, pages and the rest have one each
  const endpoints = new Router<State>(exact);
  const pages = new Router<State>(exact);
  const open = new Router<State>(exact);

  const fromPages = { OPTIONS: [cors(deps), preflight(deps, 'POST')] };
  const withKeyOfPage = [cors(deps), apiKey(deps), allowedOrigin(deps)];
  const forPages = pageRoutes([
    {
      ...recordRoutes.record,
      ...fromPages,
      POST: [...withKeyOfPage, pageRateLimit('record', deps.config.recordRatePerMinute), record(deps)],
      onRefusal: countRefusal(deps),
    },
    {
      ...displayRoutes.countDisplay,
      ...fromPages,
      POST: [...withKeyOfPage, pageRateLimit('display', deps.config.displayRatePerMinute), countDisplay(deps)],
    },
  ]);

  const token = bearer(deps);
  const readRate = readRateLimit(deps.config.readRatePerMinute);
  const byToken = (scoped: Middleware, rate: Middleware[] = [readRate]) => [readHeaders, token, ...rate, scoped];
  // what is asked by a dimension is in Postgres, the rest in Redis
  const [ofPostgres, ofRedis] = [readInPlace(deps.places.reads), readInPlace(deps.places.statistics)];
  const byDimension: Middleware = (ctx, next) =>
    (new URLSearchParams(ctx.querystring).has('by') ? ofPostgres : ofRedis)(ctx, next);
  const change = changeInPlace(deps.places.changes);
  const limitsOf = {
    reads: [ofPostgres],
    statistics: [byDimension],
    current: [readInPlace(deps.places.current)],
    changes: [changeRateLimit(deps.config.changeRatePerMinute), change],
    revocations: [revocationRateLimit(deps.config.changeRatePerMinute), change],
    own: [],
  };
  /** What a request changed is in force in this process before it is answered; in others it is within a second. */
  const inForce: Middleware = async (_, next) => {
    await next();
    await deps.tenants.catchUp();
  };
  /** Each row with the handler that has its name. */
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
      // who asks what holds now counts visitors, not requests
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

  // with a page's key or, from an organization's own servers, with a token
  const notice = noticeKeyRoutes.putNotice.path;
  const managed = byToken(scope('manage')).map(withToken);
  open.options(notice, withKey(cors(deps), preflight(deps, 'POST, PUT')));
  open.put(notice, deadline, withKey(...withKeyOfPage), ...managed, putNotice(deps));

  // without a key, for the domain's own pages
  const { path: place } = placeRoutes.getPlace;
  const ofPage = [cors(deps), domainOfPage(deps), allowedOrigin(deps)];
  const placeRate = pageRateLimit('place', deps.config.displayRatePerMinute);
  open.options(place, bySteps(cors(deps), preflight(deps, 'GET')));
  open.get(place, deadline, bySteps(...ofPage, placeRate), getPlace(deps));

  // with the ticket of a check, from the page that is checked
  const checkRate = pageRateLimit('check', deps.config.displayRatePerMinute);
  for (const [{ path }, handle] of [
    [siteCheckRoutes.lookUpHosts, lookUpHosts(deps)],
    [siteCheckRoutes.storeCheck, storeCheck(deps)],
  ] as const) {
    open.options(path, bySteps(cors(deps), preflight(deps, 'POST')));
    open.post(path, deadline, bySteps(...ofPage, checkRate), handle);
  }

  // for the dashboard's pages, by their cookie or a link
  const tokenIfAny: Middleware = (ctx, next) => (ctx.get('authorization') === '' ? next() : token(ctx, next));
  const signIn = { ...signingIn, ...joining, ...passkeys };
  for (const name of signInNames) {
    const handlers = [...(name === 'acceptInvitation' ? [tokenIfAny] : []), signIn[name](deps)];
    open.post(signInRoutes[name].path, readHeaders, deadline, fromOwnPages(deps), ...handlers);
  }

  pages.get('/openapi.json', documentHeaders, openapi(deps));
  pages.get('/v1/sign-in', documentHeaders, signInOffer(deps));
  for (const [path, serve] of Object.entries(docs(deps))) pages.get(path, docsHeaders, serve);
  const ownPages = dashboardHeaders(deps.config.oidc?.issuer);
  for (const [path, serve] of Object.entries(dashboard(deps))) pages.get(path, ownPages, serve);
  for (const [path, serve] of Object.entries(preview(deps))) pages.get(path, previewHeaders, serve);
  for (const [path, serve] of Object.entries(verifyPage(deps))) pages.get(path, serve);
  for (const [path, serve] of Object.entries(widgetFiles(deps))) pages.get(path, deadline, serve);
  pages.get('/w/:domainId.js', deadline, bannerScript(deps));
  for (const [path, serve] of Object.entries(demoPage(deps))) pages.get(path, demoHeaders, deadline, serve);

  app.use(exchange({ ...deps, home: `${deps.config.basePath}/` }));
  app.use(forPages);
  app.use(
    limitUnreadResponses(
      unreadResponses,
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
    if (leftEarly.has(error.code)) deps.log.debug({ code: error.code }, 'a client left before its answer was complete');
    else deps.log.warn({ event: 'response_failed', err: error }, 'a response failed');
  });
  return app;
}

const leftEarly = new Set<string | undefined>(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Without trusted hops Koa ignores X-Forwarded-For; with them it uses only that many entries from its end. */
const clientAddresses = (hops: number) => (hops > 0 ? { proxy: true, maxIpsCount: hops } : {});
