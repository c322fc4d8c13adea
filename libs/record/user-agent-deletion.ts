/**
 * Deletes user agents that no record names: those of months that are dropped or blanked, and those of erased records. No
 * index has the records that name one, so for the latter they are looked for in pieces by key: in the months in which the
 * text was sent, and then in the epochs since. A round does some pieces, and the next one goes on, in whichever process.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { addMonths } from '#libs/base/terms/calendar';
import { createPieceSize } from './derivations.ts';
import { nextDomains, nil } from './epoch-records.ts';
import { holdEpoch, lastClosedEpoch } from './epochs.ts';
import { hasPersonal, isOfMonth, listMonthsWithPersonal } from './month-partitions.ts';

/** records in one piece */
export const usualPiece = 20_000;
/** pieces in a round: some seconds */
const usualRound = 50;
/** texts that are looked for at once */
const together = 1_000;
const firstMonth = '0000-01';

interface Look {
  since: number;
  month: string | null;
  domainNumber: number;
  id: string;
}

/** `done`: nothing to look for, or another process is at it. */
type Looked = 'more' | 'done' | { deleted: number };

/** Goes on looking, and deletes texts that no record names. Returns how many. */
export async function deleteUnnamedUserAgents(
  db: Database,
  { size = createPieceSize(usualPiece), pieces = usualRound } = {},
): Promise<number> {
  let deleted = 0;
  for (let done = 0; done < pieces; done += 1) {
    const looked = await size.watch(() => db.transaction((sql) => lookOn(sql, size.records())));
    if (looked === 'done') break;
    if (looked !== 'more') deleted += looked.deleted;
  }
  return deleted;
}

async function lookOn(sql: Sql, limit: number): Promise<Looked> {
  const look = await takeLook(sql);
  if (!look) return 'done';
  const left = await listLeft(sql);
  const month = look.month !== null && left.length > 0 ? await nextMonth(sql, look.month, left) : null;
  if (month !== null) {
    const from = month === look.month ? look : { domainNumber: 0, id: nil };
    const last = await lookInMonth(sql, { month, from, limit, left });
    await moveTo(sql, last ? { ...look, month, ...last } : { ...look, month: addMonths(month, 1), ...start });
    return 'more';
  }
  if (left.length > 0 && look.since <= (await lastClosedEpoch(sql))) {
    const inEpochs = look.month === null ? look : { ...look, month: null, ...start };
    const { domains, through } = await nextDomains(sql, look.since, inEpochs.domainNumber, limit);
    const numbers = domains.map(({ domainNumber }) => domainNumber);
    await passOver(
      sql,
      await sql<{ number: number }[]>`
        select distinct user_agent_number as number from records
        where epoch = ${look.since} and domain_number = any(${numbers}) and user_agent_number = any(${left})`,
    );
    const next = through === undefined ? { since: look.since + 1, domainNumber: 0 } : { domainNumber: through };
    await moveTo(sql, { ...inEpochs, ...next });
    return 'more';
  }
  return endLook(sql, look, left);
}

const start = { domainNumber: 0, id: nil };

/** Locked until the transaction ends. A new one begins where some are noted, and none is under way. */
async function takeLook(sql: Sql): Promise<Look | undefined> {
  const columns = sql`since, month, domain_number as "domainNumber", id`;
  const [look] = await sql<Look[]>`select ${columns} from user_agent_look for update skip locked`;
  if (look) return look;
  const [begun] = await sql<Look[]>`
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

/** From `month` on the first that may name one: it was sent in it, or records came after the month was blanked. */
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

/** Returns the last record of the piece, where there was one. */
async function lookInMonth(sql: Sql, { month, from, limit, left }: Piece) {
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
  await passOver(sql, named);
  return page?.last ?? undefined;
}

/** But for those that were noted again: a record that was found to name one may have been blanked since. */
async function passOver(sql: Sql, named: { number: number }[]): Promise<void> {
  if (named.length === 0) return;
  await sql`
    delete from user_agents_to_look_for as noted using user_agents_looked_for as looked
    where noted.number = any(${named.map(({ number }) => number)})
      and looked.number = noted.number and looked.noted_at = noted.noted_at`;
}

const moveTo = (sql: Sql, { since, month, domainNumber, id }: Look) => sql`
  update user_agent_look set since = ${since}, month = ${month}, domain_number = ${domainNumber}, id = ${id}`;

async function endLook(sql: Sql, look: Look, left: number[]): Promise<Looked> {
  // until this ends the open epoch stays open: what names a text meanwhile is sealed after it has gone, without it
  if (left.length > 0 && !(await holdEpoch(sql))) return 'done';
  const named = await sql<{ number: number }[]>`
    select distinct user_agent_number as number from records
    where epoch >= ${look.since} and user_agent_number = any(${left})`;
  const found = new Set(named.map(({ number }) => number));
  const unnamed = left.filter((number) => !found.has(number));
  await sql`delete from user_agent_months where number = any(${unnamed})`;
  // families are few, and erased records name them, which nobody looks at
  const { count } = await sql`delete from user_agents where number = any(${unnamed}) and not is_family`;
  await passOver(
    sql,
    left.map((number) => ({ number })),
  );
  await sql`delete from user_agents_looked_for`;
  await sql`delete from user_agent_look`;
  return { deleted: count };
}

/** texts that are deleted in one statement */
const deletedTogether = 10_000;

/** Of a month whose records name none any more; those that no other month has are deleted an hour later. */
export const forgetUserAgentsOf = (sql: Sql, month: string) =>
  sql`delete from user_agent_months where month = ${month}`;

/** Deletes those that no record names any more, since all their months are dropped or blanked. Returns how many. */
export async function deleteUnusedUserAgents(db: Database): Promise<number> {
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
  // what names a text meanwhile is sealed after it has gone, without it
  if (!(await holdEpoch(sql))) return 0;
  const unused = sql`
    select number from user_agents a
    where not is_family and not exists (select from user_agent_months m where m.number = a.number) limit ${deletedTogether}`;
  if (!(await hasLateRecords(sql))) {
    return (await sql`delete from user_agents where number in (${unused})`).count;
  }
  // a process still remembered them for the month, and stored them after it was blanked: they are looked for
  await sql`insert into user_agents_to_look_for (number) ${unused} on conflict do nothing`;
  return 0;
}

async function hasLateRecords(sql: Sql): Promise<boolean> {
  for (const { month, blankedThrough } of await listMonthsWithPersonal(sql)) {
    if (blankedThrough > 0 && (await hasPersonal(sql, month, blankedThrough))) return true;
  }
  return false;
}
