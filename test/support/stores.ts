/** Databases and Redis servers, shared and of a file's own, and tenants in them. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { connectRedis, type RedisConnection, type Role } from '#libs/base/redis/connection';
import { createAdministration } from '#libs/tenants/administration';
import { type RunningRedis, startRedis } from '../../scripts/stack/redis.ts';
import { atEnd } from './at-end.ts';
import { copyDatabase } from './database.ts';
import { openPool, type Statement, statementsOn } from './pool.ts';
import { sharedPostgresUrl, sharedStack } from './shared.ts';
import { unsynced } from './started.ts';
import { eventually } from './wait.ts';

/** Makes an empty, migrated database and returns its address. */
export const freshDatabase = (): Promise<string> => copyDatabase(sharedPostgresUrl());

export interface TestDatabase {
  url: string;
  db: Database;
  sql: Statement;
}

/** A database of the file's own. */
export const openDatabase = async (): Promise<TestDatabase> => connectDatabase(await freshDatabase());

/** The database that the worker's files share: for tests that look only at tenants of their own making. */
export const useDatabase = (): TestDatabase => connectDatabase(sharedStack().env.DATABASE_URL);

export function connectDatabase(url: string): TestDatabase {
  const db = openPool(url, { max: 8 });
  return { url, db, sql: statementsOn(db) };
}

/** A Redis as it is shipped, with an append-only file. */
export async function openRedisServer(settings: Record<string, string> = {}): Promise<RunningRedis> {
  const dataDir = mkdtempSync(path.join(inject('folder'), 'redis', 'server-'));
  const server = await startRedis({ dataDir, settings: { ...unsynced, ...settings } });
  atEnd(() => {
    server.kill();
    return server.exited;
  });
  return server;
}

/** Patient, as a worker's is; as a `producer` it gives a command up that took a second, which a busy machine may take. */
export async function openRedis(url: string, role: Role = 'worker'): Promise<RedisConnection> {
  const connection = connectRedis({ url, clusterNodes: [] }, role, { warn: () => {} });
  atEnd(() => connection.close());
  await eventually(() => {
    if (connection.runIdOf('') === undefined) throw new Error('Redis is not connected');
  });
  return connection;
}

export interface Tenant {
  organizationId: string;
  /** in the order in which they were asked for */
  domainIds: string[];
  /** one key per domain */
  apiKeys: string[];
}

/** An organization with its domains and keys. */
export async function makeTenant(
  db: Database,
  options: {
    domains?: number;
    consentLog?: boolean;
    monthlyRecordLimit?: number | null;
    origins?: string[];
  } = {},
): Promise<Tenant> {
  const { domains = 1, consentLog = true, monthlyRecordLimit = null, origins = [] } = options;
  const admin = createAdministration(db, 'test');
  const plan = `plan-${randomBytes(4).toString('hex')}`;
  await admin.setPlan(plan, { consentLog, monthlyRecordLimit });
  const { organizationId } = await admin.createOrganization(`Organization ${plan}`, plan);
  const tenant: Tenant = { organizationId, domainIds: [], apiKeys: [] };
  for (let index = 0; index < domains; index += 1) {
    const { domainId } = await admin.createDomain(organizationId, { name: `site-${index}.example`, origins });
    const { apiKey } = await admin.createKey(domainId);
    tenant.domainIds.push(domainId);
    tenant.apiKeys.push(apiKey);
  }
  return tenant;
}
