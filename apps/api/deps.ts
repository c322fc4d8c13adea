/** What all requests of a process share. */
import type { LiveBanners } from '#libs/banner/live';
import type { Clock } from '#libs/base/db/clock';
import type { Database } from '#libs/base/db/database';
import type { LaggingReads } from '#libs/base/db/replica';
import { createUnreadResponses } from '#libs/base/http/unread-responses';
import type { BaseMetrics } from '#libs/base/ops/metrics';
import type { Log } from '#libs/base/ops/process-log';
import type { Tracing } from '#libs/base/ops/tracing';
import type { RedisConnection } from '#libs/base/redis/connection';
import { createLookupLimit } from '#libs/current/handlers';
import type { CurrentMetrics } from '#libs/current/metrics';
import { createNewestReader } from '#libs/current/newest';
import type { KnownNotices } from '#libs/notices/known-notices';
import { createAttempts } from '#libs/people/attempts';
import type { PeopleMetrics } from '#libs/people/metrics';
import type { Cost } from '#libs/people/passwords';
import { createAccounts } from '#libs/people/sessions';
import type { PlaceOf } from '#libs/place/place-of';
import { createFindErasedVisitors } from '#libs/privacy/erased-lookup';
import { createNoteBusy } from '#libs/record/busy-visitors';
import { recordFields } from '#libs/record/contract';
import { createNoteLeftOut } from '#libs/record/left-out';
import type { RecordMetrics } from '#libs/record/metrics';
import type { Recorder } from '#libs/record/recorder';
import type { StoredThrough } from '#libs/record/stored-through';
import type { CounterReader } from '#libs/stats/counter-reader';
import type { DisplayBuffer } from '#libs/stats/display-buffer';
import type { FacetReader } from '#libs/stats/facets';
import type { StatsMetrics } from '#libs/stats/metrics';
import { createCrawlerCount } from '#libs/stats/monthly-limit';
import { createFailedCredentials } from '#libs/tenants/failed-credentials';
import { createIgnoredFieldLog } from '#libs/tenants/ignored-fields';
import type { LogReads } from '#libs/tenants/log-reads';
import { createRefusedOriginLog } from '#libs/tenants/refused-origins';
import type { SharedSlots } from '#libs/tenants/shared-slots';
import type { TenantCache } from '#libs/tenants/tenant-cache';
import { createVisitorReads } from '#libs/tenants/visitor-lookups';
import type { ApiConfig } from '../settings/api.ts';
import type { WidgetCache } from './pages/widget-cache.ts';

/** Opened once, in serve.ts. The types of each room declare which of these it needs. */
export interface AppParts {
  config: Omit<ApiConfig, 'opsPort'>;
  /** the folder of the pages' builds; ends with a slash */
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
  displays: DisplayBuffer;
  logReads: LogReads;
  widget: WidgetCache;
  banners: LiveBanners;
  slots: SharedSlots;
  passwordCost: Cost | undefined;
}

export type Deps = ReturnType<typeof createDeps>;

/** Adds the caches, limits and counters that exist once per process. */
export const createDeps = (given: AppParts) => ({
  ...given,
  failedKeys: createFailedCredentials('key', given.config.failureRatePerMinute),
  failedTokens: createFailedCredentials('token', given.config.failureRatePerMinute),
  noteVisitorRead: createVisitorReads(given),
  noteBusy: createNoteBusy(given),
  countCrawlers: createCrawlerCount(given.db),
  refusedOrigins: createRefusedOriginLog(given),
  noteLeftOut: createNoteLeftOut({ ...given, ignoredFields: createIgnoredFieldLog(given), fields: recordFields }),
  unreadResponses: createUnreadResponses(),
  attempts: createAttempts(given.config.failureRatePerMinute, given.metrics, given.passwordCost),
  accounts: createAccounts(given.config),
  newest: createNewestReader(given.db, createFindErasedVisitors(given.config.privacyKey)),
  currentLimit: createLookupLimit(given.config.currentRatePerMinute),
});
