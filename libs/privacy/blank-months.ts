/**
 * PERSONAL_RETENTION_MONTHS: removes the personal fields from records of old months, in batches small enough to slow nobody
 * down. Decisions and proofs stay.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Sql } from '#libs/base/db/database';
import { chunksOf } from '#libs/base/group-by';
import { isPastRetention } from '#libs/base/terms/retention';
import { lastClosedEpoch } from '#libs/epochs/closed-epochs';
import { nil } from '#libs/epochs/slices';
import { forgetVisitorsOf } from '#libs/record/busy-visitors';
import { noteDueMonths, type Round } from '#libs/record/due-months';
import { hasPersonal, isOfMonth, listBlankedThrough, noteBlanked } from '#libs/record/month-partitions';
import { forgetUserAgentsOf } from '#libs/record/user-agent-deletion';
import { blankLimit, blankRecords, lockLog, type Personal, personalColumns } from './personal-fields.ts';

/** milliseconds between two batches */
const pause = 20;

interface Blanked {
  records: number;
  /** months that no earlier round had found due */
  found: string[];
}

/**
 * Blanks the months that enough rounds have found due. A month that fails keeps no later one waiting. `now`: Postgres' time
 * in Unix milliseconds.
 */
export async function blankOldMonths(
  db: Database,
  { personalRetentionMonths, round }: { personalRetentionMonths: number; round: Round },
  now: number,
  signal: AbortSignal,
): Promise<Blanked> {
  const months = await db.read(listBlankedThrough);
  const due = months.map(({ month }) => month).filter((month) => isPastRetention(month, personalRetentionMonths, now));
  const { ready, found } = await noteDueMonths(db, 'blank', due, round);
  let records = 0;
  const failures: unknown[] = [];
  for (const { month, blankedThrough } of months.filter(({ month }) => ready.includes(month))) {
    if (signal.aborted) break;
    try {
      if (!(await db.read((sql) => hasPersonal(sql, month, blankedThrough)))) continue;
      records += await blankMonth(db, month, { pause: () => sleep(pause), signal });
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return { records, found };
}

/** records that are looked at in one statement */
const usualPageSize = 20_000;

interface RecordCursor {
  domainNumber: number;
  id: string;
}

interface Page {
  /** its records that have personal fields */
  personal: { domainNumber: number; ids: string[] }[];
  /** of all its records; null where there are none */
  last: RecordCursor | null;
}

/**
 * Blanks a month in batches, with a `pause` after each batch and page. Returns the number of records. `signal` stops it
 * early.
 */
export async function blankMonth(
  db: Database,
  month: string,
  {
    pause,
    signal,
    pageSize = usualPageSize,
  }: { pause: () => Promise<void>; signal: AbortSignal; pageSize?: number | undefined },
): Promise<number> {
  const through = await db.read(lastClosedEpoch);
  let blanked = 0;
  let after: RecordCursor | null = { domainNumber: 0, id: nil };
  while (after) {
    if (signal.aborted) return blanked;
    const from: RecordCursor = after;
    const page = await db.read((sql) => readPage(sql, month, from, pageSize));
    for (const { domainNumber, ids } of page.personal) {
      for (const batch of chunksOf(ids, blankLimit)) {
        if (signal.aborted) return blanked;
        blanked += await blankSome(db, domainNumber, batch);
        await pause();
      }
    }
    after = page.last;
    await pause();
  }
  await endMonth(db, month, through);
  return blanked;
}

/** Reads all records in key order: most may be blanked already, but no index finds the others. */
async function readPage(sql: Sql, month: string, { domainNumber, id }: RecordCursor, pageSize: number): Promise<Page> {
  const [page] = await sql<Page[]>`
    with page as materialized (
      select
        domain_number, id,
        erased_at is null and (
          visitor_id is not null or ip is not null or user_agent_number is not null or page_url is not null
          or metadata is not null
        ) as is_personal
      from records
      where ${isOfMonth(sql, month)} and (domain_number, id) > (${domainNumber}::integer, ${id}::uuid)
      order by domain_number, id limit ${pageSize}
    )
    select
      (
        select coalesce(json_agg(json_build_object('domainNumber', domain_number, 'ids', ids)), '[]')
        from (
          select domain_number, json_agg(id order by id) as ids from page where is_personal
          group by domain_number order by domain_number
        ) as domains
      ) as personal,
      (
        select json_build_object('domainNumber', domain_number, 'id', id) from page
        order by domain_number desc, id desc limit 1
      ) as last`;
  return page ?? { personal: [], last: null };
}

const blankSome = (db: Database, domainNumber: number, ids: string[]): Promise<number> =>
  db.transaction(async (sql) => {
    await lockLog(sql, domainNumber);
    const records = await sql<Personal[]>`
      select ${personalColumns(sql)}
      from records r left join user_agents on user_agents.number = r.user_agent_number
      where r.domain_number = ${domainNumber} and r.id = any(${ids}) and r.erased_at is null
      order by r.id for update of r`;
    await blankRecords(sql, domainNumber, records);
    return records.length;
  });

/** Also deletes the month's visitor counters. User agents that no other month has are deleted an hour later. */
const endMonth = (db: Database, month: string, through: number) =>
  db.transaction(async (sql) => {
    await forgetVisitorsOf(sql, [month]);
    await forgetUserAgentsOf(sql, month);
    await noteBlanked(sql, month, through);
  });
