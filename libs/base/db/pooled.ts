/**
 * For a pooler in transaction mode, such as PgBouncer. Each transaction may get another server connection there, and the
 * pooler refuses the settings that a session would begin with. So each transaction sets them for itself, and a single
 * statement becomes a transaction. `unsafe` alone stays outside: for the few statements that no transaction may hold.
 */
import type { Sql, TransactionSql } from 'postgres';
import { isolation } from './session.ts';

type Types = { bigint: number };

/** All connections to one address, for what no statement and no transaction is. */
export type Pool = Sql<Types>;

type Work = (transaction: TransactionSql<Types>) => unknown;
type Statement = [strings: TemplateStringsArray, ...parameters: never[]];

/** As of a lost connection, which it is, behind the pooler. */
class OtherServer extends Error {
  readonly code = 'CONNECTION_CLOSED';
}

const marker = Symbol('through a pooler');

/** Whether the next statement may come to another session. */
export const isThroughPooler = (pool: Pool): boolean => Reflect.get(pool, marker) === true;

interface SessionSettings {
  [name: string]: string | number;
}

/**
 * `onOtherServer` is called when the pooler leads to another server than before, or to one that was restarted. What was
 * under way then fails as with a lost connection: it may rest on what only the other one holds.
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
      // on its way together with the first statement of the work
      const begun = transaction.unsafe<{ since: string }[][]>(begin).execute();
      const [answers, result] = await Promise.all([begun, work(transaction)]);
      const since = answers.at(-1)?.[0]?.since;
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
    let answer: Promise<unknown> | undefined;
    const run = () => {
      answer ??= inTransaction('', (transaction) => {
        const inside = transaction(...statement);
        return isRaw ? inside.raw() : inside;
      });
      return answer;
    };
    // it stays a query of the driver, so that it can also be a part of another one
    return Object.assign(query, {
      raw: () => {
        isRaw = true;
        return query;
      },
      // biome-ignore lint/suspicious/noThenProperty: the driver, too, sends a query when somebody waits for it
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
 * The driver prepares its own `commit`. Where the pooler keeps no prepared statements that one fails, which aborts the
 * transaction; the driver then sends it anew, Postgres rolls back, and the driver takes that for success. So it is sent
 * before, in a way that needs no preparing; the driver's own ends an empty transaction then. It follows at once: outside
 * any, the driver would already have given the connection to the next one that waits.
 */
async function commit(transaction: TransactionSql<Types>): Promise<void> {
  const { command } = await transaction.unsafe('commit and chain');
  if (command !== 'COMMIT') throw new Error(`the transaction ended with ${command}`);
}

const isStatement = (given: unknown[]): given is Statement => Array.isArray(given[0]) && 'raw' in given[0];
