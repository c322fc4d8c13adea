/** The API: the order of everything, on one screen. */
import Router from '@koa/router';
import Koa from 'koa';
import type { ApiConfig } from '#libs/config/api';
import type { Database } from '#libs/store/sql';
import type { TenantCache } from '#libs/store/tenants/tenant-cache';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';
import { apiKey, recordRateLimit } from './access/api-key.ts';
import { bearer, readRateLimit } from './access/bearer.ts';
import { allowedOrigin, cors, preflight } from './access/cors.ts';
import { createFailedCredentials } from './access/failed-credentials.ts';
import { fairTurns } from './access/fair-turns.ts';
import type { State } from './http/context.ts';
import { deadline } from './http/deadline.ts';
import { exchange } from './http/exchange.ts';
import { refuseOtherMethods } from './http/routes.ts';
import { dashboardHeaders, demoHeaders, docsHeaders, documentHeaders, readHeaders } from './http/security-headers.ts';
import { checkpoint, verifierKeys } from './log/checkpoint.ts';
import { consistency } from './log/consistency.ts';
import { entryBundle } from './log/entries.ts';
import { proof } from './log/proof.ts';
import { oneRecord } from './log/record.ts';
import { records } from './log/records.ts';
import { hashTile } from './log/tiles.ts';
import { organization } from './manage/organization.ts';
import { dashboard } from './pages/dashboard.ts';
import { demoPage } from './pages/demo.ts';
import { docs, openapi } from './pages/openapi.ts';
import { verifyPage } from './pages/verify.ts';
import { widgetFiles } from './pages/widget.ts';
import type { WidgetShelf } from './pages/widget-shelf.ts';
import type { Recorder } from './record/recorder.ts';
import { countRefusal } from './record/refusals.ts';
import { record, recordRoute } from './record/route.ts';
import type { CounterReader } from './stats/counter-reader.ts';
import { domainStats } from './stats/domain-stats.ts';
import { orgStats } from './stats/org-stats.ts';

const exact = { sensitive: true, strict: true };

/** Created once, in process/serve.ts; each room is handed what it says it needs. */
export interface AppParts {
  config: ApiConfig;
  log: Log;
  metrics: Metrics;
  db: Database;
  /** the same database, or a replica of it */
  readDb: Database;
  tenants: TenantCache;
  recorder: Recorder;
  counters: CounterReader;
  widget: WidgetShelf;
}

export function createApp(given: AppParts): Koa<State> {
  const failedKeys = createFailedCredentials('key', given.config);
  const failedTokens = createFailedCredentials('token', given.config);
  const deps = { ...given, failedKeys, failedTokens };
  const app = new Koa<State>(clientAddresses(deps.config.trustedProxyHops));
  // a router compares a path with all of its routes, so reads and pages have one each
  const reads = new Router<State>(exact);
  const pages = new Router<State>(exact);

  const recording = recordRoute(
    {
      OPTIONS: [cors(deps), preflight],
      POST: [cors(deps), apiKey(deps), allowedOrigin, recordRateLimit(deps.config), record(deps)],
    },
    countRefusal(deps),
  );

  const token = bearer(deps);
  const limit = readRateLimit(deps.config);
  const inTurns = fairTurns();
  reads.get('/v1/consent/org-stats', readHeaders, deadline, token, limit, inTurns, orgStats(deps));
  reads.get('/v1/consent/:domainId/stats', readHeaders, deadline, token, limit, domainStats(deps));
  reads.get('/v1/consent/:domainId/records', readHeaders, deadline, token, limit, inTurns, records(deps));
  const read = [readHeaders, deadline, token, limit];
  reads.get('/v1/consent/:domainId/records/:recordId', ...read, oneRecord(deps));
  reads.get('/v1/consent/:domainId/records/:recordId/proof', ...read, proof(deps));
  reads.get('/v1/consent/:domainId/log/checkpoint', ...read, checkpoint(deps));
  reads.get('/v1/consent/:domainId/log/key', ...read, verifierKeys(deps));
  reads.get('/v1/consent/:domainId/log/consistency', ...read, consistency(deps));
  // before hash tiles, whose path it also is
  reads.get('/v1/consent/:domainId/log/tile/entries/*tile', ...read, inTurns, entryBundle(deps));
  reads.get('/v1/consent/:domainId/log/tile/*tile', ...read, hashTile(deps));
  reads.get('/v1/organization', readHeaders, deadline, token, limit, organization(deps));

  pages.get('/openapi.json', documentHeaders, openapi());
  for (const [path, serve] of Object.entries(docs())) pages.get(path, docsHeaders, serve);
  for (const [path, serve] of Object.entries(dashboard())) pages.get(path, dashboardHeaders, serve);
  for (const [path, serve] of Object.entries(verifyPage())) pages.get(path, serve);
  for (const [path, serve] of Object.entries(widgetFiles(deps))) pages.get(path, deadline, serve);
  for (const [path, serve] of Object.entries(demoPage(deps))) pages.get(path, demoHeaders, deadline, serve);

  app.use(exchange(deps));
  app.use(recording);
  app.use(reads.routes());
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
