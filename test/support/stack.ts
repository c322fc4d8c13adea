/** An API, a worker and one organization: shared by the files of one vitest worker, or a file's own. */
import { randomBytes } from 'node:crypto';
import type { Database } from '#libs/base/db/database';
import { connectRedis } from '#libs/base/redis/connection';
import { readPage } from '#libs/log/domain-page';
import type { FullRecord, NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { raise } from '#libs/stats/redis-counters';
import { createAdministration } from '#libs/tenants/administration';
import type { RunningRedis } from '../../scripts/stack/redis.ts';
import { type Client, createClient } from './client.ts';
import type { Statement } from './pool.ts';
import {
  type Addresses,
  type Api,
  type ApiProcess,
  startApi,
  startApiProcess,
  startWorker,
  startWorkerProcess,
} from './service.ts';
import { sharedStack } from './shared.ts';
import { makeTenant, openDatabase, openRedisServer, type Tenant, useDatabase } from './stores.ts';
import { eventually } from './wait.ts';

export type StoreSettings = { DATABASE_URL: string; REDIS_URL: string };

export interface Stores {
  db: Database;
  sql: Statement;
  /** the settings by which a process finds them */
  env: StoreSettings;
}

export interface OwnStores extends Stores {
  redis: RunningRedis;
}

export interface Stack extends Stores {
  api: Addresses;
  tenant: Tenant;
  client: Client;
  /** the first domain, and its key */
  domainId: string;
  apiKey: string;
}

export interface StackWithApi extends Stack {
  api: Api;
}

export interface OwnStack extends Stack, OwnStores {
  api: Api;
}

interface OwnStackOfProcesses extends Omit<OwnStack, 'api'> {
  api: ApiProcess;
}

type TenantOptions = Parameters<typeof makeTenant>[1];

/** The stores that the worker's files share, with a worker process at work. */
export function useStores(): Stores {
  const { url, db, sql } = useDatabase();
  return { db, sql, env: { DATABASE_URL: url, REDIS_URL: sharedStack().env.REDIS_URL } };
}

/** The stack that the worker's files share, and an organization of the file's own. */
export async function useStack(options: { tenant?: TenantOptions } = {}): Promise<Stack> {
  return withTenant(useStores(), sharedStack().api, options.tenant);
}

/** The same stores, and an API of the file's own: with other settings, or to look at its log or its metrics. */
export async function useStackWithApi(
  options: { tenant?: TenantOptions; env?: Record<string, string> } = {},
): Promise<StackWithApi> {
  const stores = useStores();
  return withTenant(stores, await startApi({ ...stores.env, ...options.env }), options.tenant);
}

export async function openStores(): Promise<OwnStores> {
  const [{ url, db, sql }, redis] = await Promise.all([openDatabase(), openRedisServer()]);
  return { db, sql, redis, env: { DATABASE_URL: url, REDIS_URL: redis.url } };
}

/** What a worker is started with to seal each second. */
export const sealSettings = {
  LOG_KEY: randomBytes(32).toString('hex'),
  LOG_NAME: 'consent.example.com',
  SEAL_SECONDS: '1',
};

/**
 * For a file that breaks something, or looks at all there is: everything is its own. Without a worker what is recorded
 * stays in the queue, and what is put in through `persist` is all there is.
 * `sealed`: the worker seals each second.
 */
export const startStack = (options: StackOptions = {}): Promise<OwnStack> =>
  startStackWith(startApi, startWorker, options);

/** The same with processes, for a file that kills or freezes them. */
export const startProcesses = (options: StackOptions = {}): Promise<OwnStackOfProcesses> =>
  startStackWith(startApiProcess, startWorkerProcess, options);

interface StackOptions {
  tenant?: TenantOptions;
  worker?: boolean;
  sealed?: boolean;
  /** settings of both */
  env?: Record<string, string>;
}

async function startStackWith<A extends Addresses>(
  openApi: (env: Record<string, string>) => Promise<A>,
  openWorker: (env: Record<string, string>) => Promise<unknown>,
  { tenant, worker = true, sealed = false, env: more = {} }: StackOptions,
) {
  const stores = await openStores();
  const env = { ...stores.env, ...(sealed && sealSettings), ...more };
  const [api] = await Promise.all([openApi(env), ...(worker ? [openWorker(env)] : [])]);
  return withTenant(stores, api, tenant);
}

async function withTenant<S extends Stores, A extends Addresses>(stores: S, api: A, options?: TenantOptions) {
  const tenant = await makeTenant(stores.db, options);
  return {
    ...stores,
    api,
    tenant,
    client: createClient(api.baseUrl, tenant),
    domainId: at(tenant.domainIds, 0),
    apiKey: at(tenant.apiKeys, 0),
  };
}

/** The same stack with a domain of a test's own: its records are all of that test's making. */
export async function withOwnDomain<S extends Stack>(stack: S, origins: string[] = []): Promise<S> {
  const admin = createAdministration(stack.db, 'test');
  const { domainId } = await admin.createDomain(stack.tenant.organizationId, { name: 'a site', origins });
  const { apiKey } = await admin.createKey(domainId);
  return { ...stack, domainId, apiKey };
}

/** Stores and counts `records` in both stores, as the worker does, before it resolves. */
export async function storeRecords({ db, env }: Pick<Stores, 'db' | 'env'>, records: NewRecord[]): Promise<void> {
  const redis = connectRedis({ url: env.REDIS_URL, clusterNodes: [] }, 'worker', { warn: () => {} });
  try {
    await raise(redis.client, (await persist(db, records)).counters);
  } finally {
    await redis.close();
  }
}

/** A domain's records in Postgres, oldest first, once there are `count`. */
export function recordsOf({ db, tenant, domainId }: Stack, count: number): Promise<FullRecord[]> {
  const { organizationId } = tenant;
  return eventually(async () => {
    const { records } = await db.run((sql) =>
      readPage(sql, { organizationId, domainId, limit: count + 100, offset: 0 }),
    );
    if (records.length !== count) throw new Error(`${records.length} records instead of ${count}`);
    return records.reverse();
  });
}

/** The element that has to be there. */
export function at<T>(list: readonly T[], index: number): T {
  const element = list.at(index);
  if (element === undefined) throw new Error(`nothing at ${index} of ${list.length}`);
  return element;
}
