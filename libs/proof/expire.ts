/**
 * Retention in the logs: when a month of records is dropped, their ids and secrets are removed. The leaves stay, so every
 * proof and checkpoint stays valid.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { readAsOwner } from '#libs/base/db/roles/as-owner';
import { addMonths, firstDay, lowestIdAt, startOf } from '#libs/base/terms/calendar';
import { nil } from '#libs/epochs/slices';

/** runs in one transaction */
const chunk = 64;
const gone = Buffer.alloc(16);

/** Removes the ids and secrets of a month's records from the logs. The month's partition must still exist. */
export async function expireMonth(db: Database, month: string): Promise<void> {
  const epochs = await epochsOf(db, month);
  if (!epochs) return;
  let domainNumber = await nextDomain(db, month, 0);
  while (domainNumber !== undefined) {
    const domain = domainNumber;
    let after: RunCursor | undefined = { epoch: epochs.first, id: nil, log: 0, first: 0 };
    while (after) {
      const from: RunCursor = after;
      after = await db.transaction((sql) => expireRuns(sql, domain, month, { from, last: epochs.last }));
    }
    domainNumber = await nextDomain(db, month, domain);
  }
}

/** The sort key of a run: the last record up to its end, then log and first position. */
interface RunCursor {
  epoch: number;
  id: string;
  log: number;
  first: number;
}

const partitionOf = (month: string): string => `records_${month.replace('-', '_')}`;

async function epochsOf(db: Database, month: string): Promise<{ first: number; last: number } | undefined> {
  const [epochs] = await readAsOwner(
    db,
    (sql) => sql<{ first: number | null; last: number | null }[]>`
      select min(epoch) as first, max(epoch) as last from ${sql(partitionOf(month))}`,
  );
  return epochs && epochs.first !== null && epochs.last !== null
    ? { first: epochs.first, last: epochs.last }
    : undefined;
}

async function nextDomain(db: Database, month: string, after: number): Promise<number | undefined> {
  const [row] = await readAsOwner(
    db,
    (sql) => sql<{ domainNumber: number | null }[]>`
      select min(domain_number) as "domainNumber" from ${sql(partitionOf(month))} where domain_number > ${after}`,
  );
  return row?.domainNumber ?? undefined;
}

interface StoredRun {
  log: number;
  first: number;
  lastEpoch: number;
  lastId: string;
  ids: Buffer;
  secrets: Buffer;
}

/** Handles the next runs whose epochs may hold records of the month. Returns where to continue. */
async function expireRuns(
  sql: Sql,
  domainNumber: number,
  month: string,
  { from, last }: { from: RunCursor; last: number },
): Promise<RunCursor | undefined> {
  // this makes sealing wait, because it also rewrites runs
  await sql`select from logs where domain_number = ${domainNumber} and ended_at is null for update`;
  const runs = await sql<StoredRun[]>`
      select log, first, last_epoch as "lastEpoch", last_id as "lastId", coalesce(ids, '') as ids,
        coalesce(secrets, '') as secrets
      from log_runs
      where domain_number = ${domainNumber}
        and (last_epoch, last_id, log, first) > (${from.epoch}, ${from.id}, ${from.log}, ${from.first})
      order by last_epoch, last_id, log, first limit ${chunk}`;
  const expired = runs.flatMap((run) => {
    const left = withoutMonth(run, month);
    return left ? [{ log: run.log, first: run.first, ...left }] : [];
  });
  await sql`
      update log_runs as r set ids = decode(e.ids, 'base64'), secrets = decode(e.secrets, 'base64')
      from json_to_recordset(${JSON.stringify(expired)}::text::json)
        as e (log integer, first bigint, ids text, secrets text)
      where domain_number = ${domainNumber} and r.log = e.log and r.first = e.first`;
  const end = runs.at(-1);
  // the run that ends after the month's last epoch may start in it
  const isOver = runs.length < chunk || runs.some(({ lastEpoch }) => lastEpoch > last);
  return end && !isOver ? { ...end, epoch: end.lastEpoch, id: end.lastId } : undefined;
}

/** The run without the month's ids and secrets; null if none are left; undefined if it had none of the month. */
function withoutMonth({ ids, secrets }: StoredRun, month: string) {
  const [first, below] = [month, addMonths(month, 1)].map((each) => bytesOf(lowestIdAt(startOf(firstDay(each)))));
  if (!first || !below) return undefined;
  const left = { ids: Buffer.from(ids), secrets: Buffer.from(secrets) };
  let expired = 0;
  for (let at = 0; at < ids.length; at += 16) {
    if (ids.compare(first, 0, 16, at, at + 16) < 0 || ids.compare(below, 0, 16, at, at + 16) >= 0) continue;
    left.ids.set(gone, at);
    left.secrets.set(gone, at);
    expired += 1;
  }
  if (expired === 0) return undefined;
  if (left.ids.every((byte) => byte === 0)) return { ids: null, secrets: null };
  return { ids: left.ids.toString('base64'), secrets: left.secrets.toString('base64') };
}

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');

/** Whether these derivations are complete for the month's records. */
export async function isDerived(db: Database, month: string, derivations: string[]): Promise<boolean> {
  const epochs = await epochsOf(db, month);
  if (!epochs || derivations.length === 0) return true;
  const [row] = await db.read(
    (sql) => sql<{ done: boolean }[]>`
      select
        (select count(*) from derivations where name = any (${derivations}) and epoch >= ${epochs.last})
          = ${derivations.length}::int
        and not exists (select from logs where ended_at is null and waits_from <= ${epochs.last}) as done`,
  );
  return row?.done ?? false;
}
