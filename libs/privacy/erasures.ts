/**
 * Erasures: first the tombstone, then the rows, in transactions of at most 500. A worker continues an unfinished one,
 * so that a crash loses nothing.
 */
import { randomBytes } from 'node:crypto';
import type { Database, Sql } from '#libs/base/db/database';
import { isUnavailable } from '#libs/base/db/errors';
import { Crowded } from '#libs/base/slots';
import { within } from '#libs/base/timers';
import { forgetVisitor } from '#libs/record/busy-visitors';
import { isVisitor } from '#libs/record/visitor-rows';
import {
  addVisitorAct,
  allDomains,
  isInScope,
  numbersOf,
  type ScopeNumbers,
  type VisitorAct,
  type VisitorScope,
} from '#libs/tenants/visitors';
import { blankLimit, blankRecords, lockLog, type Personal, personalColumns, queueErasures } from './personal-fields.ts';
import { addTombstone } from './tombstones.ts';

export interface Erasure {
  erasureId: string;
  /** null once the erasure is done: nothing is left of the visitor then */
  visitorId: string | null;
  records: number;
  /** when it was done */
  erasedAt: Date | null;
  requestedAt: Date;
  /** who asked for it; null if it is not known */
  actor: string | null;
}

interface Begun extends ScopeNumbers {
  erasureId: string;
  visitorId: string;
}

/** Records that are erased before the response; more are left to the worker. */
const mostAtOnce = 10_000;
/** milliseconds */
const usualPatience = 3_000;
/** Milliseconds to read the result. If that fails, the client can still request the progress. */
const progressPatience = 1_000;

export const makeErasureId = (): string => `ers_${randomBytes(10).toString('hex')}`;

/**
 * Erases a visitor. If that takes longer than `patience` (milliseconds) or has too many records, `erasedAt` is null and
 * the worker continues. `inSlot`: does the work once it has a slot.
 */
export async function eraseVisitor(
  db: Database,
  wanted: VisitorScope & { visitorId: string; hash: Uint8Array; actor: string; erasureId?: string },
  { patience = usualPatience, inSlot = (work: () => Promise<void>, _: AbortSignal): Promise<void> => work() } = {},
): Promise<Erasure> {
  const { visitorId, hash, actor, erasureId = makeErasureId(), ...scope } = wanted;
  const act: VisitorAct = { ...scope, actor, hash, act: 'visitor.erase', erasureId };
  const numbers = await db.transaction(async (sql) => {
    const found = await numbersOf(sql, scope);
    await addTombstone(sql, found, hash);
    await sql`
      insert into erasures (id, organization_number, domain_number, hash, visitor_id)
      values (${erasureId}, ${found.organizationNumber}, ${found.domainNumber}, ${Buffer.from(hash)}, ${visitorId})`;
    await addVisitorAct(sql, act);
    return found;
  });
  const begun = { ...numbers, erasureId, visitorId };
  const end = AbortSignal.timeout(patience);
  const eraseAtOnce = async () => {
    const isLarge = (await db.read((sql) => countRecords(sql, begun))) > mostAtOnce;
    if (!isLarge) await goOn(db, begun, end);
  };
  await within(patience, inSlot(eraseAtOnce, end)).catch((error: unknown) => {
    if (!end.aborted && !isUnavailable(error) && !(error instanceof Crowded)) throw error;
  });
  const reading = db.write(async (sql) => {
    await sql`update erasures set moved_at = '-infinity' where id = ${erasureId} and done_at is null`;
    return findErasure(sql, scope.organizationId, erasureId);
  }, progressPatience);
  const erasure = await reading.catch((error: unknown) => {
    if (!isUnavailable(error)) throw error;
  });
  return erasure ?? { erasureId, visitorId, records: 0, erasedAt: null, requestedAt: new Date(), actor };
}

/** Completes an erasure. */
export async function finishErasure(
  db: Database,
  { organizationId }: VisitorScope,
  erasureId: string,
): Promise<Erasure> {
  const [begun] = await db.read(
    (sql) => sql<Begun[]>`
    select ${begunColumns(sql)} from erasures where id = ${erasureId} and done_at is null`,
  );
  if (begun) await goOn(db, begun);
  const erasure = await db.read((sql) => findErasure(sql, organizationId, erasureId));
  if (!erasure) throw new Error(`the erasure ${erasureId} is not there`);
  return erasure;
}

const begunColumns = (sql: Sql) => sql`
  id as "erasureId", visitor_id as "visitorId", organization_number as "organizationNumber",
  domain_number as "domainNumber"`;

export async function findErasure(sql: Sql, organizationId: string, erasureId: string): Promise<Erasure | undefined> {
  const [erasure] = await sql<Erasure[]>`
    select id as "erasureId", visitor_id as "visitorId", records, done_at as "erasedAt", began_at as "requestedAt",
      (select actor from visitor_acts where erasure_id = erasures.id limit 1) as actor
    from erasures
    where id = ${erasureId} and organization_number = (select number from organizations where id = ${organizationId})`;
  return erasure;
}

/** Newest first, by the acts that began them; `after`: the number of the last erasure of the previous page. */
export const listErasures = (
  sql: Sql,
  { organizationId, limit, after }: { organizationId: string; limit: number; after: number | undefined },
): Promise<(Erasure & { number: number })[]> => sql<(Erasure & { number: number })[]>`
  select v.id::float8 as number, e.id as "erasureId", e.visitor_id as "visitorId", e.records, e.done_at as "erasedAt",
    e.began_at as "requestedAt", v.actor
  from visitor_acts as v join erasures as e on e.id = v.erasure_id
  where v.organization_number = (select number from organizations where id = ${organizationId})
    and v.act = 'visitor.erase' and v.id < ${after ?? Number.MAX_SAFE_INTEGER}
  order by v.id desc limit ${limit}`;

/** The number of records, up to one more than `mostAtOnce`. */
async function countRecords(sql: Sql, { visitorId, ...numbers }: Begun): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from domains join records r on ${isVisitor(sql, { domain: sql`number`, visitorId })}
      where ${isInScope(sql, numbers)} limit ${mostAtOnce + 1}
    ) as found`;
  return row?.count ?? 0;
}

/** Erases until nothing is left. `signal`: stops after the current batch. */
export async function goOn(db: Database, begun: Begun, signal?: AbortSignal): Promise<void> {
  let after = 0;
  while (!signal?.aborted) {
    const domainNumber = await db.read((sql) => nextDomain(sql, begun, after));
    if (domainNumber === undefined) return finish(db, begun);
    while (!signal?.aborted && (await eraseSome(db, begun, domainNumber)) === blankLimit);
    after = domainNumber;
  }
}

async function nextDomain(sql: Sql, { visitorId, ...numbers }: Begun, after: number): Promise<number | undefined> {
  const [row] = await sql<{ domainNumber: number }[]>`
    select number as "domainNumber" from domains
    where ${isInScope(sql, numbers)} and number > ${after}
      and exists (select from records r where ${isVisitor(sql, { domain: sql`number`, visitorId })})
    order by number limit 1`;
  return row?.domainNumber;
}

/** Returns how many. */
const eraseSome = (db: Database, { erasureId, visitorId }: Begun, domainNumber: number): Promise<number> =>
  db.transaction(async (sql) => {
    await lockLog(sql, domainNumber);
    // unordered, because sorting a busy visitor's records each time is slow; the log's lock prevents deadlocks
    const records = await sql<Personal[]>`
      select ${personalColumns(sql)}
      from (
        select * from records where ${isVisitor(sql, { domain: domainNumber, visitorId })} and erased_at is null
        limit ${blankLimit} for update
      ) as r
      left join user_agents on user_agents.number = r.user_agent_number`;
    await blankRecords(sql, domainNumber, records);
    await queueErasures(
      sql,
      records.map((record) => ({ ...record, domainNumber, erasureId })),
    );
    await sql`
      update erasures set records = records + ${records.length}, moved_at = clock_timestamp() where id = ${erasureId}`;
    return records.length;
  });

/** Deletes the counters of the visitor's records, then the visitor's id in the erasure. */
const finish = (db: Database, { erasureId, visitorId, ...numbers }: Begun): Promise<void> =>
  db.transaction(async (sql) => {
    await forgetVisitor(sql, visitorId, sql`select number from domains where ${isInScope(sql, numbers)}`);
    await sql`
      update erasures set visitor_id = null, done_at = clock_timestamp() where id = ${erasureId} and done_at is null`;
  });

interface ErasedRecord {
  domainNumber: number;
  id: string;
  /** of its visitor, hex */
  hash: string;
}

/**
 * For each record, the oldest unfinished erasure of its visitor whose scope includes the record's domain, if there is one.
 */
export async function listRunning(
  sql: Sql,
  records: ErasedRecord[],
): Promise<(ErasedRecord & { erasureId: string })[]> {
  if (records.length === 0) return [];
  const rows = records.map(({ domainNumber, id, hash }) => ({ domainNumber, id, hash }));
  return sql<(ErasedRecord & { erasureId: string })[]>`
    select distinct on (1, 2) r."domainNumber", r.id, r.hash, e.id as "erasureId"
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r ("domainNumber" integer, id uuid, hash text)
    join erasures e on e.hash = decode(r.hash, 'hex') and e.domain_number in (${allDomains}, r."domainNumber")
    where e.done_at is null
    order by 1, 2, began_at`;
}

/** Adds the records that blanking changed to their erasures' counts. `erasureIds`: one for each record, so ids repeat. */
export const countBlanked = (sql: Sql, erasureIds: string[]) => sql`
  update erasures set records = erasures.records + blanked.records
  from (select id, count(*) as records from unnest(${erasureIds}::text[]) as id group by 1) as blanked
  where erasures.id = blanked.id`;

/** Seconds after which an erasure without progress counts as abandoned. */
const abandonedAfter = 5;

/** Takes the oldest abandoned erasure. */
export async function takeErasure(sql: Sql): Promise<Begun | undefined> {
  const [taken] = await sql<Begun[]>`
    update erasures set moved_at = clock_timestamp()
    where id = (
      select id from erasures
      where done_at is null
        and (moved_at < clock_timestamp() - ${abandonedAfter} * interval '1 second' or moved_at > clock_timestamp())
      order by began_at limit 1 for update skip locked
    )
    returning ${begunColumns(sql)}`;
  return taken;
}
