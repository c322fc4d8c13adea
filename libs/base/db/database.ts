/**
 * The Postgres client with a deadline. The driver waits forever on a frozen backend or a half-open connection. A pool whose
 * connections stopped responding never recovers, so it is replaced.
 */
import pLimit from 'p-limit';
import postgres from 'postgres';
import { TimedOut, within } from '../timers.ts';
import { type Address, readAddress } from './address.ts';
import { advise, isUnavailable } from './errors.ts';
import { type Pool, throughPooler } from './pooled.ts';
import { type Refusal, watchWrites } from './refused-writes.ts';
import { sessionBasics, sessionFormats, sessionIsolation } from './session.ts';

/** Runs statements: each on its own, or all in one transaction. */
export type Sql = postgres.ISql<{ bigint: number }>;

export type Fragment = postgres.Fragment;

/**
 * An expression that is always true and writes to the write-ahead log, so that the commit waits for synchronous standbys
 * even if the transaction changed no row. A retry that finds its rows already stored needs that, because the first attempt
 * may have been cut off while it waited.
 */
export const writeSomething = (sql: Sql) => sql`pg_logical_emit_message(true, 'assent', '') is not null`;

export interface DatabaseOptions {
  url: string;
  /** connections */
  max: number;
  /** milliseconds after which the server itself ends a statement */
  statementTimeout: number;
  /** milliseconds after which the caller gets TimedOut; longer than `statementTimeout` */
  deadline: number;
  /** seconds to connect; default 3 */
  connectTimeout?: number;
  /** named prepared statements; off behind a pgbouncer before 1.21 */
  prepare: boolean;
  /** behind a pooler in transaction mode */
  pooled?: boolean;
  name: string;
}

type Work<T> = (sql: Sql) => Promise<T>;

interface Reading {
  /** milliseconds */
  deadline?: number | undefined;
  /** All statements see the same snapshot. */
  snapshot?: boolean;
}

export interface Reads {
  /** For statements that change nothing: if one fails, `work` may run again on another server. Rejects as `write` does. */
  read<T>(work: Work<T>, how?: Reading): Promise<T>;
}

export interface Database extends Reads {
  /** Each statement takes effect by itself. Rejects with TimedOut after `deadline` milliseconds; it may still take effect. */
  write<T>(work: Work<T>, deadline?: number): Promise<T>;
  /** All statements take effect, or none. Rejects as `write` does. */
  transaction<T>(work: Work<T>, deadline?: number): Promise<T>;
  /** For work that needs one connection, or that cannot run in a transaction. Rejects as `write` does. */
  run<T>(work: (pool: Pool) => Promise<T>, deadline?: number): Promise<T>;
  /**
   * For an uncaught error. If the driver threw it while writing to a closed connection, that connection never sends again:
   * the pool is replaced, its statements fail as on any lost connection, and `recover` returns true.
   */
  recover(error: unknown): boolean;
  /** Grows with each closed connection, since the next one may lead to another server. */
  generation(): number;
  /** Calls of `run` in progress. Above the number of connections, some wait for one. */
  running(): number;
  /**
   * Since when Postgres has been unavailable, in Unix milliseconds; null if the last call got a response and Postgres does
   * not refuse to store. A call that only waited too long for a connection does not count.
   */
  unavailableSince(): number | null;
  /**
   * Why, and since when, Postgres responds but stores nothing; null if the last write succeeded or none was tried lately.
   */
  refusal(): Refusal | null;
  /** Waits up to 5 s for calls in progress. */
  close(): Promise<void>;
}

function connect({ url, ssl, socket }: Address, options: DatabaseOptions, onclose: () => void): Pool {
  const settings = {
    statement_timeout: options.statementTimeout,
    idle_in_transaction_session_timeout: 60_000,
    // compiling a query over many partitions takes seconds, running it milliseconds
    jit: 'off',
    ...sessionFormats,
  };
  const sql = postgres(url, {
    ...socket,
    ssl,
    max: options.max,
    prepare: options.prepare,
    connect_timeout: options.connectTimeout ?? 3,
    idle_timeout: 60,
    max_lifetime: 60 * 30,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1),
    connection: {
      application_name: options.name,
      ...sessionBasics,
      ...(options.pooled ? {} : { ...settings, ...sessionIsolation }),
    },
    onnotice: () => {},
    onclose,
    // the driver would query all array types on each new connection, and end the process if that query fails
    fetch_types: false,
    types: {
      // counts stay far below 2^53
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
      texts: arrayParameter(1009),
      integers: arrayParameter(1007),
      bigints: arrayParameter(1016),
      uuids: arrayParameter(2951),
    },
  });
  return options.pooled ? throughPooler(sql, settings, onclose) : sql;
}

/** Sends a list as a parameter of this array type. Lists are read back with `to_json`. */
const arrayParameter = (to: number) => ({
  to,
  from: [],
  parse: String,
  serialize: (values: readonly (string | number)[]) =>
    `{${values.map((value) => `"${String(value).replace(/["\\]/g, '\\$&')}"`).join(',')}}`,
});

/**
 * The stack frame in which the driver throws when it writes to a connection that has just closed
 * (github.com/porsager/postgres, issue 1154). It does so when it rolls the transaction back, after it has reported the lost
 * connection.
 */
const lostWrite = `nextWrite (${new URL('connection.js', import.meta.resolve('postgres')).href}:`;

/**
 * How many calls the driver gets at once. With a hundred statements on one connection, it begins a transaction on a
 * connection that others share, so their statements become part of it (postgres 3.4.9, connection.js, `max_pipeline`).
 */
const maxPipelined = 32;

/**
 * Shows whether the work used the pool. Work that sends nothing, such as checking a limit that no plan sets, does not show
 * that Postgres responds.
 */
function watch(pool: Pool): { watched: Pool; isUsed(): boolean } {
  let used = false;
  const watched = new Proxy(pool, {
    apply: (target, self, given) => {
      used = true;
      return Reflect.apply(target, self, given);
    },
    get: (target, name) => {
      used = true;
      return Reflect.get(target, name);
    },
  });
  return { watched, isUsed: () => used };
}

export function createDatabase(options: DatabaseOptions): Database {
  let generation = 0;
  const countClosed = () => {
    generation += 1;
  };
  const address = readAddress(options.url);
  const open = () => connect(address, options, countClosed);
  let sql = open();
  let limitCalls = pLimit(maxPipelined);
  let respondedAt = performance.now();
  /** Oldest first, until their work has ended: the first `max` have a connection, the others wait for one. */
  const underWay = new Set<{ isLate: boolean }>();
  let unavailableSince: number | null = null;
  const writes = watchWrites();

  const replace = () => {
    const pool = sql;
    countClosed();
    sql = open();
    limitCalls = pLimit(maxPipelined);
    underWay.clear();
    void pool.end({ timeout: 0 }).catch(() => {});
  };

  async function run<T>(work: (pool: Pool) => Promise<T>, deadline = options.deadline): Promise<T> {
    const [pool, limited] = [sql, limitCalls];
    const { watched, isUsed } = watch(pool);
    const since = performance.now();
    const call = { isLate: false };
    let onlyWaited = false;
    underWay.add(call);
    const toItsEnd = async () => {
      try {
        return await limited(() => work(watched));
      } finally {
        underWay.delete(call);
      }
    };
    const giveUp = () => {
      call.isLate = true;
      if (pool !== sql) return;
      const withConnection = [...underWay].slice(0, options.max);
      // If no call that holds a connection is late, a call that is still waiting for one says nothing about Postgres.
      const isSilent = respondedAt <= since && withConnection.some(({ isLate }) => isLate);
      onlyWaited = !isSilent && !withConnection.includes(call);
      if (isSilent) replace();
    };
    try {
      const result = await within(deadline, toItsEnd(), giveUp);
      if (isUsed()) {
        respondedAt = performance.now();
        unavailableSince = null;
      }
      return result;
    } catch (error) {
      if (error instanceof postgres.PostgresError) respondedAt = performance.now();
      if (onlyWaited) throw new TimedOut(`no connection to Postgres was free within ${deadline} ms`, { cause: error });
      if (isUnavailable(error)) unavailableSince ??= Date.now();
      else if (isUsed()) unavailableSince = null;
      throw advise(error);
    }
  }
  /** The result is wrapped in an object, because the driver would await each promise of a list. */
  const begin = async <T>(how: string, work: Work<T>, deadline: number | undefined): Promise<T> =>
    (await run((pool) => pool.begin(how, async (sql) => ({ result: await work(sql) })), deadline)).result;

  return {
    read: (work, { deadline, snapshot = false } = {}) =>
      snapshot ? begin('isolation level repeatable read read only', work, deadline) : run(work, deadline),
    write: (work, deadline) => writes.watch(run(work, deadline)),
    transaction: (work, deadline) => writes.watch(begin('', work, deadline)),
    run,
    recover: (error) => {
      const isLostWrite = error instanceof TypeError && (error.stack ?? '').includes(lostWrite);
      if (isLostWrite) replace();
      return isLostWrite;
    },
    generation: () => generation,
    running: () => underWay.size,
    unavailableSince: () => unavailableSince ?? writes.refusal()?.since ?? null,
    refusal: writes.refusal,
    // while Postgres is away, calls that wait for it may never settle
    close: () => {
      const isAwaited = unavailableSince === null && [...underWay].some(({ isLate }) => !isLate);
      return sql.end({ timeout: isAwaited ? 5 : 0 });
    },
  };
}
