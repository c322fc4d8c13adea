/** Personal fields of a whole month go, while its decisions and proofs stay. */
import { lastClosedEpoch } from '../epochs/epochs.ts';
import { forgetVisitorsOf } from '../records/busy-visitors.ts';
import type { Database, Sql } from '../sql.ts';
import { blank, blankLimit, lockLog, type Personal, personalColumns } from './blank.ts';

const partitionOf = (month: string): string => `records_${month.replace('-', '_')}`;

/** Months that are not dropped, oldest first, with the epoch through which their personal fields are gone. */
export const listMonthsWithPersonal = (sql: Sql) => sql<{ month: string; blankedThrough: number }[]>`
  select month, blanked_through as "blankedThrough" from record_months where dropped_at is null order by month`;

/** Records may come late, by an import: only what was stored since is looked at again. */
export async function hasPersonal(sql: Sql, month: string, blankedThrough: number): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from ${sql(partitionOf(month))} where epoch > ${blankedThrough}) as found`;
  return row?.found ?? false;
}

interface Place {
  domainNumber: number;
  id: string;
}

const nil = '00000000-0000-0000-0000-000000000000';

/** Blanks a month in batches, `pause` after each. Returns how many records; stops early by `signal`. */
export async function blankMonth(
  db: Database,
  month: string,
  { pause, signal }: { pause: () => Promise<void>; signal: AbortSignal },
): Promise<number> {
  const through = await db.run(lastClosedEpoch);
  let blanked = 0;
  let after: Place | undefined = { domainNumber: 0, id: nil };
  while (after) {
    if (signal.aborted) return blanked;
    const from: Place = after;
    const ids = await db.run((sql) => nextIds(sql, month, from));
    const [first] = ids;
    after = ids.at(-1);
    if (!first) break;
    blanked += await db.run((sql) =>
      blankSome(
        sql,
        first.domainNumber,
        ids.map(({ id }) => id),
      ),
    );
    await pause();
  }
  await db.run((sql) => endMonth(sql, month, through));
  return blanked;
}

/** The next ones that have any, of one domain. */
async function nextIds(sql: Sql, month: string, { domainNumber, id }: Place): Promise<Place[]> {
  const rows = await sql<Place[]>`
    select domain_number as "domainNumber", id from ${sql(partitionOf(month))}
    where (domain_number, id) > (${domainNumber}::integer, ${id}::uuid) and erased_at is null
      and (
        visitor_id is not null or ip is not null or user_agent_number is not null or page_url is not null
        or metadata is not null
      )
    order by domain_number, id limit ${blankLimit}`;
  return rows.filter((row) => row.domainNumber === rows[0]?.domainNumber);
}

const blankSome = (sql: Sql, domainNumber: number, ids: string[]): Promise<number> =>
  sql.begin(async (transaction) => {
    const inside = transaction as unknown as Sql;
    await lockLog(inside, domainNumber);
    const records = await inside<Personal[]>`
      select ${personalColumns(inside)}
      from records r left join user_agents on user_agents.number = r.user_agent_number
      where r.domain_number = ${domainNumber} and r.id = any(${ids}) and r.erased_at is null
      order by r.id for update of r`;
    await blank(inside, domainNumber, records);
    return records.length;
  }) as Promise<number>;

/** What counts the month's visitors goes too; user agents that no other month has, an hour later. */
const endMonth = (sql: Sql, month: string, through: number) =>
  sql.begin(async (transaction) => {
    await forgetVisitorsOf(transaction as unknown as Sql, month);
    await transaction`delete from user_agent_months where month = ${month}`;
    await transaction`update record_months set blanked_through = ${through} where month = ${month}`;
  });
