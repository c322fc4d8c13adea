/** What most files here start: stores of their own, an API, a worker and one organization. */
import type { Database } from '#libs/store/sql';
import type { RunningRedis } from '../../scripts/stack/redis.ts';
import { type Client, createClient } from '../support/client.ts';
import { type Api, startApi, startWorker } from '../support/service.ts';
import { makeTenant, openDatabase, openRedisServer, type Tenant } from '../support/stores.ts';

export type StoreSettings = { DATABASE_URL: string; REDIS_URL: string };

export interface Stores {
  db: Database;
  redis: RunningRedis;
  /** the settings by which a process finds them */
  env: StoreSettings;
}

export interface Stack extends Stores {
  api: Api;
  tenant: Tenant;
  client: Client;
  /** the first domain, and its key */
  domainId: string;
  apiKey: string;
}

export async function openStores(): Promise<Stores> {
  const [{ url, db }, redis] = await Promise.all([openDatabase(), openRedisServer()]);
  return { db, redis, env: { DATABASE_URL: url, REDIS_URL: redis.url } };
}

/** Without a worker what is recorded stays in the queue, and what is put in through `persist` is all there is. */
export async function startStack(
  options: { tenant?: Parameters<typeof makeTenant>[1]; env?: Record<string, string>; worker?: boolean } = {},
): Promise<Stack> {
  const { worker = true } = options;
  const stores = await openStores();
  const tenant = await makeTenant(stores.db, options.tenant);
  const [api] = await Promise.all([
    startApi({ ...stores.env, ...options.env }),
    ...(worker ? [startWorker(stores.env)] : []),
  ]);
  return {
    ...stores,
    api,
    tenant,
    client: createClient(api.baseUrl, tenant),
    domainId: at(tenant.domainIds, 0),
    apiKey: at(tenant.apiKeys, 0),
  };
}

/** The element that has to be there. */
export function at<T>(list: readonly T[], index: number): T {
  const element = list.at(index);
  if (element === undefined) throw new Error(`nothing at ${index} of ${list.length}`);
  return element;
}
