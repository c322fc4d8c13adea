/**
 * Deletes user agents that no record refers to any more: after a month is dropped or blanked, and after an erasure. No
 * index leads from a user agent to its records, so after an erasure they are searched for in pieces by key: first in the
 * months in which the text was sent, then in the epochs since. Any process can continue the search.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { addMonths } from '#libs/base/terms/calendar';
import { holdEpoch, lastClosedEpoch } from '#libs/epochs/closed-epochs';
import { createPieceSize } from '#libs/epochs/piece-size';
import { nextDomains, nil } from '#libs/epochs/slices';
import { hasPersonal, isOfMonth, listBlankedThrough } from './month-partitions.ts';

/** records per piece */
export const usualPiece = 20_000;
/** pieces per round, which takes some seconds */
const usualRound = 50;
/** texts per search */
const together = 1_000;
const firstMonth = '0000-01';

interface Search {
  since: number;
  month: string | null;
  domainNumber: number;
  id: string;
}

/** `done`: nothing to search for, another process is searching, or an epoch is just being closed. */
type SearchStep = 'more' | 'done' | { deleted: number };

/** Continues the search, and deletes texts that no record refers to. Returns their number. */
export async function deleteUnreferencedUserAgents(
  db: Database,
  { size = createPieceSize(usualPiece), pieces = usualRound } = {},
): Promise<number> {
  let deleted = 0;
  for (let done = 0; done < pieces; done += 1) {
    const step = await size.run(() => db.transaction((sql) => continueSearch(sql, size.maxRecords())));
    if (step === 'done') break;
    if (step !== 'more') deleted += step.deleted;
  }
  return deleted;
}

async function continueSearch(sql: Sql, limit: number): Promise<SearchStep> {
  const search = await takeSearch(sql);
  if (!search) return 'done';
  const left = await listLeft(sql);
  const month = search.month !== null && left.length > 0 ? await nextMonth(sql, search.month, left) : null;
  if (month !== null) {
    const from = month === search.month ? search : { domainNumber: 0, id: nil };
    const last = await searchMonth(sql, { month, from, limit, left });
    await moveTo(sql, last ? { ...search, month, ...last } : { ...search, month: addMonths(month, 1), ...start });
    return 'more';
  }
  if (left.length > 0 && search.since <= (await lastClosedEpoch(sql))) {
    const inEpochs = search.month === null ? search : { ...search, month: null, ...start };
    const { domains, through } = await nextDomains(sql, search.since, inEpochs.domainNumber, limit);
    const numbers = domains.map(({ domainNumber }) => domainNumber);
    await takeOffList(
      sql,
      await sql<{ number: number }[]>`
        select distinct user_agent_number as number from records
        where epoch = ${search.since} and domain_number = any(${numbers}) and user_agent_number = any(${left})`,
    );
    const next = through === undefined ? { since: search.since + 1, domainNumber: 0 } : { domainNumber: through };
    await moveTo(sql, { ...inEpochs, ...next });
    return 'more';
  }
  return endSearch(sql, search, left);
}

const start = { domainNumber: 0, id: nil };

/** Locks the current search until the transaction ends. Starts one if texts are waiting and none is running. */
async function takeSearch(sql: Sql): Promise<Search | undefined> {
  const columns = sql`since, month, domain_number as "domainNumber", id`;
  const [search] = await sql<Search[]>`select ${columns} from user_agent_look for update skip locked`;
  if (search) return search;
  const [begun] = await sql<Search[]>`
    insert into user_agent_look (since, month, domain_number, id)
    select open, ${firstMonth}, 0, ${nil} from epochs where exists (select from user_agents_to_look_for)
    on conflict do nothing
    returning ${columns}`;
  if (!begun) return undefined;
  await sql`
    insert into user_agents_looked_for (number, noted_at)
    select number, noted_at from user_agents_to_look_for order by noted_at limit ${together}`;
  return begun;
}

async function listLeft(sql: Sql): Promise<number[]> {
  const rows = await sql<{ number: number }[]>`
    select number from user_agents_to_look_for join user_agents_looked_for using (number, noted_at) order by 1`;
  return rows.map(({ number }) => number);
}

/**
 * The next month, from `month` on, whose records may refer to one of these texts: a text is noted for it, or records were
 * stored after it was blanked.
 */
async function nextMonth(sql: Sql, month: string, numbers: number[]): Promise<string | null> {
  const months = await sql<{ month: string; blankedThrough: number; isNoted: boolean }[]>`
    select month, blanked_through as "blankedThrough",
      month in (select named.month from user_agent_months named where number = any(${numbers})) as "isNoted"
    from record_months where dropped_at is null and month >= ${month} order by month`;
  for (const each of months) {
    if (each.isNoted) return each.month;
    if (each.blankedThrough > 0 && (await hasPersonal(sql, each.month, each.blankedThrough))) return each.month;
  }
  return null;
}

interface Piece {
  month: string;
  from: { domainNumber: number; id: string };
  limit: number;
  left: number[];
}

/** Returns the last record of the piece, if there is one. */
async function searchMonth(sql: Sql, { month, from, limit, left }: Piece) {
  const [page] = await sql<{ named: number[]; last: { domainNumber: number; id: string } | null }[]>`
    with page as materialized (
      select domain_number, id, user_agent_number from records
      where ${isOfMonth(sql, month)} and (domain_number, id) > (${from.domainNumber}::integer, ${from.id}::uuid)
      order by domain_number, id limit ${limit}
    )
    select
      (
        select coalesce(json_agg(distinct user_agent_number), '[]') from page where user_agent_number = any(${left})
      ) as named,
      (
        select json_build_object('domainNumber', domain_number, 'id', id) from page
        order by domain_number desc, id desc limit 1
      ) as last`;
  const named = (page?.named ?? []).map((number) => ({ number }));
  await sql`
    insert into user_agent_months (number, month)
    select number, ${month} from user_agents where number = any(${named.map(({ number }) => number)})
    order by 1 on conflict do nothing`;
  await takeOffList(sql, named);
  return page?.last ?? undefined;
}

/**
 * Takes these texts off the list of texts to search for. One that was queued again since this search began stays on it,
 * because the record that refers to it may have been blanked since.
 */
async function takeOffList(sql: Sql, named: { number: number }[]): Promise<void> {
  if (named.length === 0) return;
  await sql`
    delete from user_agents_to_look_for as noted using user_agents_looked_for as looked
    where noted.number = any(${named.map(({ number }) => number)})
      and looked.number = noted.number and looked.noted_at = noted.noted_at`;
}

const moveTo = (sql: Sql, { since, month, domainNumber, id }: Search) => sql`
  update user_agent_look set since = ${since}, month = ${month}, domain_number = ${domainNumber}, id = ${id}`;

async function endSearch(sql: Sql, search: Search, left: number[]): Promise<SearchStep> {
  // Keep the epoch open until this transaction commits. A record stored meanwhile that refers to a text deleted here is
  // then sealed only later, when the text is gone, so its entry does not contain it.
  if (left.length > 0 && !(await holdEpoch(sql))) return 'done';
  const named = await sql<{ number: number }[]>`
    select distinct user_agent_number as number from records
    where epoch >= ${search.since} and user_agent_number = any(${left})`;
  const found = new Set(named.map(({ number }) => number));
  const unnamed = left.filter((number) => !found.has(number));
  await sql`delete from user_agent_months where number = any(${unnamed})`;
  // families are few, and erased records refer to them, so they stay
  const { count } = await sql`delete from user_agents where number = any(${unnamed}) and not is_family`;
  await takeOffList(
    sql,
    left.map((number) => ({ number })),
  );
  await sql`delete from user_agents_looked_for`;
  await sql`delete from user_agent_look`;
  return { deleted: count };
}

/** texts per statement */
const deletedTogether = 10_000;

/**
 * Call it once none of the month's records refers to a user agent. Texts that no other month has are deleted an hour later.
 */
export const forgetUserAgentsOf = (sql: Sql, month: string) =>
  sql`delete from user_agent_months where month = ${month}`;

/** Deletes user agents whose months are all dropped or blanked. Returns their number. */
export async function deleteUserAgentsOfGoneMonths(db: Database): Promise<number> {
  await db.write(
    (sql) => sql`
      delete from user_agent_months where month in (select month from record_months where dropped_at is not null)`,
  );
  let deleted = 0;
  for (let last = deletedTogether; last === deletedTogether; deleted += last) {
    last = await db.transaction(deleteSome);
  }
  return deleted;
}

async function deleteSome(sql: Sql): Promise<number> {
  // holds the open epoch, as in `endSearch`
  if (!(await holdEpoch(sql))) return 0;
  const unused = sql`
    select number from user_agents a
    where not is_family and not exists (select from user_agent_months m where m.number = a.number) limit ${deletedTogether}`;
  if (!(await hasLateRecords(sql))) {
    return (await sql`delete from user_agents where number in (${unused})`).count;
  }
  // a process may have had them cached and stored records after the blanking: search for these first
  await sql`insert into user_agents_to_look_for (number) ${unused} on conflict do nothing`;
  return 0;
}

async function hasLateRecords(sql: Sql): Promise<boolean> {
  for (const { month, blankedThrough } of await listBlankedThrough(sql)) {
    if (blankedThrough > 0 && (await hasPersonal(sql, month, blankedThrough))) return true;
  }
  return false;
}
