/** Writes a change and its administrative acts in one transaction. */
import type { Database, Sql } from '../sql.ts';

export interface Act {
  act: string;
  subject: string;
  details?: Record<string, string | number | boolean | null | string[]>;
}

export type Perform = <T>(change: (sql: Sql, note: (act: Act) => Promise<void>) => Promise<T>) => Promise<T>;

/** The table lock is held until the commit, so that acts become visible in the order of their ids. */
export const createPerform =
  (db: Database, actor: string): Perform =>
  <T>(change: (sql: Sql, note: (act: Act) => Promise<void>) => Promise<T>) =>
    db.run(
      (sql) =>
        sql.begin(async (transaction) => {
          const inside = transaction as unknown as Sql;
          const acts: Act[] = [];
          const result = await change(inside, async (act) => void acts.push(act));
          if (acts.length > 0) await inside`lock table administrative_acts in share row exclusive mode`;
          for (const { act, subject, details = {} } of acts) {
            await inside`
              insert into administrative_acts (actor, act, subject, details)
              values (${actor}, ${act}, ${subject}, ${inside.json(details)})`;
          }
          return result;
        }) as Promise<T>,
    );
