/** What the parts of the API share: dependencies, built once by main, and the state of one request. */
import type Koa from 'koa';
import type { ApiConfig } from '#libs/config/api';
import type { RedisHealth } from '#libs/queue/health';
import type { Database } from '#libs/store/sql';
import type { TenantCache } from '#libs/store/tenants/tenant-cache';
import type { Domain, Organization } from '#libs/store/tenants/tenants';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';
import type { AccessToken } from '../access/access-token.ts';
import type { WidgetShelf } from '../pages/widget-shelf.ts';
import type { Recorder } from '../record/recorder.ts';
import type { CounterReader } from '../stats/counter-reader.ts';

export interface Deps {
  config: ApiConfig;
  log: Log;
  metrics: Metrics;
  db: Database;
  /** the same database, or a replica of it */
  readDb: Database;
  redisHealth: RedisHealth;
  tenants: TenantCache;
  recorder: Recorder;
  counters: CounterReader;
  widget: WidgetShelf;
}

export interface State {
  requestId: string;
  /** Unix milliseconds */
  receivedAt: number;
  /** the same moment by the process's own clock, for deadlines */
  arrivedAt: number;
  /** found when it is first asked for */
  clientAddress: string | undefined;
  /** set by the API key */
  domain: Domain | undefined;
  /** set by the access token */
  organization: Organization | undefined;
  /** what the access token opens, once it was found good */
  access: AccessToken | undefined;
}

export type Context = Koa.ParameterizedContext<State>;
export type Middleware = Koa.Middleware<State>;
