/** Writes a change and its administrative acts in one transaction. */
import type { Database, Sql } from '#libs/base/db/database';

interface Act {
  /** `noun.verb` */
  act: string;
  subject: string;
  /** the organization that the act belongs to; default: that of `domainId` */
  organizationId?: string;
  domainId?: string;
  details?: Record<string, string | number | boolean | null | string[] | { domainId: string; number: number }[]>;
}

/** Why nothing was changed. */
export type Unchanged = 'not found' | 'changed meanwhile';

export type AddAct = (act: Act) => Promise<void>;

export type Perform = <T>(change: (sql: Sql, note: AddAct) => Promise<T>) => Promise<T>;

/** Runs a change as part of another one, in its transaction. */
export const partOf =
  (sql: Sql, note: AddAct): Perform =>
  (change) =>
    change(sql, note);

/** Milliseconds after which Postgres ends an idle change, because others wait for its locks. */
const idleFor = 5_000;

/** The lock of acts is held until the commit, so that acts become visible in the order of their ids. */
export const createPerform =
  (db: Pick<Database, 'transaction'>, actor: string): Perform =>
  <T>(change: (sql: Sql, note: AddAct) => Promise<T>) =>
    db.transaction(async (sql) => {
      await sql`select set_config('idle_in_transaction_session_timeout', ${String(idleFor)}, true)`;
      const acts: Act[] = [];
      const result = await change(sql, async (act) => void acts.push(act));
      if (acts.length > 0) await sql`select lock_administrative_acts()`;
      for (const { act, subject, organizationId = null, domainId = null, details = {} } of acts) {
        await sql`
          insert into administrative_acts (actor, act, subject, organization_id, details)
          values (
            ${actor}, ${act}, ${subject},
            coalesce(${organizationId}, (select organization_id from domains where id = ${domainId})),
            ${sql.json(details)}
          )`;
      }
      return result;
    });
