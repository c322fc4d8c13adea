/** Provides what commands need: settings, and connections that are closed after the work. */
import { existsSync, readFileSync } from 'node:fs';
import type { Tools } from '#libs/base/cli/session';
import { createDatabase, type Database } from '#libs/base/db/database';
import { isForbidden, isSchemaMissing, isUnavailable } from '#libs/base/db/errors';
import { type KeyName, requireKeys } from '#libs/base/db/key-fingerprints';
import { tablesElsewhere } from '#libs/base/db/search-path';
import { connectRedis, type RedisConnection } from '#libs/base/redis/connection';
import type { QueueTools } from '#libs/record/commands';
import { knownShards } from '#libs/record/queue';
import { type CliConfig, readCliConfig } from '../settings/cli.ts';

const silent = { warn: () => {} };

/** The settings of a running `npm start`. */
const stackFile = '.data/env';

export type AllTools = Tools<CliConfig> &
  QueueTools & {
    /** Sets the actor, for a system user without a name. */
    actAs(actor: string | undefined): void;
  };

export function createTools(environment: NodeJS.ProcessEnv): AllTools {
  let actorGiven: string | undefined;
  const config = () => {
    const stack = existsSync(stackFile) ? parseSettings(readFileSync(stackFile, 'utf8')) : {};
    return readCliConfig(stack, environment, actorGiven);
  };
  const redis: AllTools['redis'] = async (work) => withRedis(config(), work);
  return {
    config,
    database: async (work) => withDatabase(config(), [], work),
    keyed: async (keys, work) => withDatabase(config(), keys, work),
    redis,
    actAs: (actor) => {
      actorGiven = actor;
    },
    queues: async (work) => {
      const { queueShards } = config().connections();
      // loading it takes two thirds of a command's start, and most commands need no queue
      const { openQueue } = await import('#libs/record/queue-summary');
      return redis(async (connection) => {
        const shards = await knownShards(connection.client, queueShards);
        const queues = shards.map((shard) => openQueue(connection, shard));
        try {
          return await work(queues, shards);
        } finally {
          await Promise.all(queues.map((queue) => queue.close()));
        }
      });
    },
  };
}

function parseSettings(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
      return name && value !== undefined ? [[name, value]] : [];
    }),
  );
}

async function withDatabase<T>(config: CliConfig, keys: KeyName[], work: (db: Database) => Promise<T>): Promise<T> {
  const db = createDatabase({
    ...config.database(),
    max: 4,
    statementTimeout: 0,
    deadline: 600_000,
    name: 'assent-cli',
  });
  try {
    if (keys.length > 0) await db.read((sql) => requireKeys(sql, config.keys(keys)));
    return await work(db);
  } catch (error) {
    if (isSchemaMissing(error)) {
      const elsewhere = await db.read(tablesElsewhere).catch(() => undefined);
      throw new Error(elsewhere ?? 'the database has no schema, or an old one: run npm run migrate');
    }
    if (isForbidden(error))
      throw new Error(`the login in DATABASE_URL may not do that, use the one that migrates: ${messageOf(error)}`);
    if (isUnavailable(error) && !isOfFile(error)) throw new Error(`Postgres is not available: ${messageOf(error)}`);
    throw error;
  } finally {
    await db.close();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Errors of the file system have the same codes as those of connections. */
const isOfFile = (error: unknown): boolean => error instanceof Error && 'path' in error && 'syscall' in error;

async function withRedis<T>(config: CliConfig, work: (redis: RedisConnection) => Promise<T>): Promise<T> {
  const redis = connectRedis(config.connections().redis, 'producer', silent);
  try {
    await ready(redis);
    return await work(redis);
  } finally {
    await redis.close();
  }
}

function ready(redis: RedisConnection): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = performance.now() + 5_000;
    const poll = () => {
      // a cluster is ready after the first of its nodes
      if (redis.runIdOf('') !== undefined && redis.client.status === 'ready') return resolve();
      if (performance.now() >= end) return reject(new Error('Redis does not respond'));
      setTimeout(poll, 10);
    };
    poll();
  });
}
