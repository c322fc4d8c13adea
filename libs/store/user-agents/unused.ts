/** User agents go with the last month whose records name them. */
import type { Database } from '../sql.ts';

/** texts that are deleted in one statement */
const slice = 10_000;

/** Deletes those that no record names any more, since all their months are dropped. Returns how many. */
export async function deleteUnusedUserAgents(db: Database): Promise<number> {
  await db.run(
    (sql) => sql`
      delete from user_agent_months where month in (select month from record_months where dropped_at is not null)`,
  );
  let deleted = 0;
  for (let last = slice; last === slice; deleted += last) {
    const result = await db.run(
      (sql) => sql`
        delete from user_agents where number in (
          select number from user_agents a
          where not exists (select from user_agent_months m where m.number = a.number) limit ${slice}
        )`,
    );
    last = result.count;
  }
  return deleted;
}
