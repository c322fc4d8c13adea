/**
 * For a pooler in transaction mode, such as PgBouncer. There each transaction may get another server connection, and the
 * pooler refuses the settings with which a session would begin. So each transaction sets them itself, and a single
 * statement becomes a transaction. Only `unsafe` stays outside, for the few statements that cannot run in a transaction.
 */
import type { Sql, TransactionSql } from 'postgres';
import { isolation } from './session.ts';

type Types = { bigint: number };

/** All connections to one address. */
export type Pool = Sql<Types>;

type Work = (transaction: TransactionSql<Types>) => unknown;
type Statement = [strings: TemplateStringsArray, ...parameters: never[]];

/** Treated as a lost connection. */
class OtherServer extends Error {
  readonly code = 'CONNECTION_CLOSED';
}

const marker = Symbol('through a pooler');

/** Whether the next statement may run in another session. */
export const isThroughPooler = (pool: Pool): boolean => Reflect.get(pool, marker) === true;

interface SessionSettings {
  [name: string]: string | number;
}

/**
 * Calls `onOtherServer` when the pooler leads to another server, or to one that was restarted. Work in progress then fails
 * as on a lost connection, since it may depend on what only the previous server stores.
 */
export function throughPooler(pool: Pool, settings: SessionSettings, onOtherServer: () => void): Pool {
  const isPrepared = pool.options.prepare;
  const set = Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}';`);
  const begin = `${set.join(' ')} select pg_postmaster_start_time()::text as since`;
  let server: string | undefined;

  const inTransaction = (options: string, work: Work) => {
    const before = server;
    const how = options.includes('isolation') ? options : `isolation level ${isolation} ${options}`;
    return pool.begin(how, async (transaction) => {
      // sent together with the first statement of the work
      const begun = transaction.unsafe<{ since: string }[][]>(begin).execute();
      const [results, result] = await Promise.all([begun, work(transaction)]);
      const since = results.at(-1)?.[0]?.since;
      if (since !== server) {
        if (server !== undefined) onOtherServer();
        server = since;
      }
      if (before !== undefined && since !== before) throw new OtherServer('the pooler leads to another server');
      if (isPrepared) await commit(transaction);
      return result;
    });
  };

  const single = (...statement: Statement) => {
    const query = pool(...statement);
    let isRaw = false;
    let running: Promise<unknown> | undefined;
    const run = () => {
      running ??= inTransaction('', (transaction) => {
        const inside = transaction(...statement);
        return isRaw ? inside.raw() : inside;
      });
      return running;
    };
    // it stays a query of the driver, so that it can also be a part of another query
    return Object.assign(query, {
      raw: () => {
        isRaw = true;
        return query;
      },
      // biome-ignore lint/suspicious/noThenProperty: the driver, too, sends a query when it is awaited
      then: (...how: Parameters<Promise<unknown>['then']>) => run().then(...how),
      catch: (how: Parameters<Promise<unknown>['catch']>[0]) => run().catch(how),
      finally: (how: () => void) => run().finally(how),
    });
  };

  return new Proxy(pool, {
    apply: (_, __, given: Parameters<Pool>) =>
      isStatement(given) ? single(...given) : Reflect.apply(pool, undefined, given),
    get: (target, name) => {
      if (name === marker) return true;
      if (name !== 'begin') return Reflect.get(target, name);
      return (...given: [Work] | [string, Work]) =>
        given.length === 2 ? inTransaction(...given) : inTransaction('', ...given);
    },
  });
}

/**
 * The driver prepares its own `commit`. On a pooler without prepared statements that fails and aborts the transaction; the
 * driver sends it again, Postgres rolls back, and the driver reports success. So we commit before that with an unprepared
 * statement, and the driver's commit ends an empty transaction. `and chain` keeps a transaction open: outside of any, the
 * driver would already have given the connection to the next caller.
 */
async function commit(transaction: TransactionSql<Types>): Promise<void> {
  const { command } = await transaction.unsafe('commit and chain');
  if (command !== 'COMMIT') throw new Error(`the transaction ended with ${command}`);
}

const isStatement = (given: unknown[]): given is Statement => Array.isArray(given[0]) && 'raw' in given[0];
