/** What a command works with: settings, connections that are closed after it, and its output. */
import { existsSync, readFileSync } from 'node:fs';
import type { Queue } from 'bullmq';
import type { Command } from 'commander';
import { type CliConfig, readCliConfig } from '#libs/config/cli';
import type { KeyName } from '#libs/config/key-fingerprints';
import { knownShards } from '#libs/queue/shards';
import { connectRedis, type RedisConnection } from '#libs/runtime/redis';
import { isForbidden, isSchemaMissing, isUnavailable } from '#libs/store/errors';
import { requireKeys } from '#libs/store/key-fingerprints';
import { createDatabase, type Database } from '#libs/store/sql';
import { type Administration, createAdministration } from '#libs/store/tenants/administration';
import { visible } from './visible.ts';

const silent = { warn: () => {} };

/** The settings of a running `npm start`. */
const stackFile = '.data/env';

export function readConfig(): CliConfig {
  return readCliConfig(existsSync(stackFile) ? parseSettings(readFileSync(stackFile, 'utf8')) : {});
}

function parseSettings(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
      return name && value !== undefined ? [[name, value]] : [];
    }),
  );
}

type Work<T> = (db: Database, admin: Administration) => Promise<T>;

/** Runs `work` on the database and closes it. */
export const withDatabase = <T>(work: Work<T>): Promise<T> => withKeys([], work);

/** The same for work that uses these keys: refused under another than the one in force. */
export async function withKeys<T>(keys: KeyName[], work: Work<T>): Promise<T> {
  const config = readConfig();
  const db = createDatabase({
    ...config.database(),
    max: 4,
    statementTimeout: 0,
    deadline: 600_000,
    name: 'assent-cli',
  });
  try {
    if (keys.length > 0) await db.run((sql) => requireKeys(sql, config.keys(keys)));
    return await work(db, createAdministration(db, config.actor));
  } catch (error) {
    if (isSchemaMissing(error)) throw new Error('the database has no schema, or an old one: run npm run migrate');
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

export async function withRedis<T>(work: (redis: RedisConnection) => Promise<T>): Promise<T> {
  const redis = connectRedis(readConfig().connections().redis, 'producer', silent);
  try {
    await ready(redis);
    return await work(redis);
  } finally {
    await redis.close();
  }
}

function ready(redis: RedisConnection): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('Redis does not answer')), 5_000);
    const poll = () => {
      // a cluster is ready later than the first of its nodes
      if (redis.runIdOf('') === undefined || redis.client.status !== 'ready') return void setTimeout(poll, 10);
      clearTimeout(timer);
      resolve();
    };
    poll();
  });
}

/** The queue of each shard that is known, in the order of `shards`. */
export async function withQueues<T>(work: (queues: Queue[], shards: number[]) => Promise<T>): Promise<T> {
  const { queueShards } = readConfig().connections();
  // two thirds of a command's start, and most commands need no queue
  const { openToRead } = await import('#libs/queue/summary');
  return withRedis(async (redis) => {
    const shards = await knownShards(redis.client, queueShards);
    const queues = shards.map((shard) => openToRead(redis, shard));
    try {
      return await work(queues, shards);
    } finally {
      await Promise.all(queues.map((queue) => queue.close()));
    }
  });
}

type Value = string | number | boolean | null | Date | string[] | object;
type Row = Record<string, Value>;

const show = (value: Value): string => visible(textOf(value));

const textOf = (value: Value): string => {
  if (value === null) return '–';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value))
    return value.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join(' ') || '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

export const isJson = (command: Command): boolean => command.optsWithGlobals().json === true;

const printJson = (value: object) => process.stdout.write(`${visible(JSON.stringify(value))}\n`);

/** One object: as JSON, or a line for each field. */
export function print(command: Command, fields: Row): void {
  if (isJson(command)) return void printJson(fields);
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  for (const [name, value] of Object.entries(fields)) process.stdout.write(`${name.padEnd(width)}  ${show(value)}\n`);
}

/** A list: as one JSON object under its `name`, or as a table. */
export function printList(command: Command, name: string, rows: readonly Row[], empty = `no ${name}`): void {
  if (isJson(command)) return void printJson({ [name]: rows });
  const [first] = rows;
  if (!first) return void process.stdout.write(`${empty}\n`);
  const columns = Object.keys(first);
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => show(row[column] ?? null).length)),
  );
  const line = (cells: string[]) =>
    process.stdout.write(
      `${cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  line(columns);
  for (const row of rows) line(columns.map((column) => show(row[column] ?? null)));
}

/** The one of a list with this id, or an error that names it. */
export function find<T extends Row>(rows: readonly T[], field: keyof T, id: string, noun: string): T {
  const row = rows.find((each) => each[field] === id);
  if (!row) throw new Error(`no ${noun} ${id}`);
  return row;
}
