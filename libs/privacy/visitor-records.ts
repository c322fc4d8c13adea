/** All records of a visitor, newest first, in pages by key, so that no cursor or snapshot stays open in between. */
import type { Reads, Sql } from '#libs/base/db/database';
import { type FoundRecord, type FoundRow, foundColumns, joinLog, toFound } from '#libs/proof/positions';
import type { FullRecord } from '#libs/record/contract';
import { joinReferences } from '#libs/record/references';
import { byTime, isAround, isVisitor, readByTime } from '#libs/record/visitor-rows';
import { isInScope, numbersOf, type VisitorScope } from '#libs/tenants/visitors';

export interface VisitorDomain {
  domainNumber: number;
  domainId: string;
  /** the newest */
  record: Pick<FullRecord, 'decision' | 'preferences'> & { id: string };
}

/** The domains where the visitor has records. */
export const listVisitorDomains = (db: Reads, scope: VisitorScope, visitorId: string): Promise<VisitorDomain[]> =>
  readByTime(db, async (sql) => {
    const numbers = await numbersOf(sql, scope);
    return sql<VisitorDomain[]>`
      select number as "domainNumber", domains.id as "domainId",
        json_build_object('id', r.id, 'decision', r.decision, 'preferences', r.preferences) as record
      from domains cross join lateral (
        select id, decision, preferences from records
        where ${isVisitor(sql, { domain: sql`number`, visitorId })} order by ${byTime(sql, 'desc')} limit 1
      ) as r
      where ${isInScope(sql, numbers)} order by domains.id`;
  });

interface Place {
  domainNumber: number;
  domainId: string;
  id: string;
}

/** The records at these places that are still the visitor's. */
async function readRecords(sql: Sql, wanted: Place[], visitorId: string): Promise<FoundRecord[]> {
  const rows = await sql<FoundRow[]>`
    select ${foundColumns(sql)}
    from json_to_recordset(${JSON.stringify(wanted)}::text::json) as w ("domainNumber" integer, id uuid)
    cross join lateral (
      select * from records where domain_number = w."domainNumber" and id = w.id and visitor_id = ${visitorId}
      offset 0
    ) as r ${joinReferences(sql)} ${joinLog(sql)}`;
  const found = new Map(rows.map(toFound).map((each) => [`${each.record.domainId} ${each.record.id}`, each]));
  return wanted.flatMap(({ domainId, id }) => found.get(`${domainId} ${id}`) ?? []);
}

/** records that are read at once */
const pageSize = 200;
/** Roughly the number of ids in memory: a visitor may have thousands of records in each of ten thousand domains. */
const mostIds = 20_000;
const fewestIds = 10;

interface DomainCursor extends Pick<Place, 'domainNumber' | 'domainId'> {
  ids: string[];
  before: string;
  isOver: boolean;
}

/** Merges the records of `domains`. Beyond the current page, only ids are in memory. */
export async function* newestFirst(
  db: Reads,
  domains: VisitorDomain[],
  visitorId: string,
): AsyncGenerator<FoundRecord[]> {
  const limit = Math.max(fewestIds, Math.min(pageSize, Math.floor(mostIds / domains.length)));
  const lines = domains.map(
    ({ domainNumber, domainId, record: { id } }): DomainCursor => ({
      domainNumber,
      domainId,
      ids: [id],
      before: id,
      isOver: false,
    }),
  );
  let page: Place[] = [];
  for (;;) {
    let next: DomainCursor | undefined;
    for (const line of lines) {
      if (line.ids.length === 0 && !line.isOver) await refill(db, line, visitorId, limit);
      if (isNewer(line, next)) next = line;
    }
    const id = next?.ids.shift();
    if (next && id !== undefined) page.push({ domainNumber: next.domainNumber, domainId: next.domainId, id });
    if (page.length === pageSize || (id === undefined && page.length > 0)) {
      const wanted = page;
      page = [];
      yield db.read((sql) => readRecords(sql, wanted, visitorId));
    }
    if (id === undefined) return;
  }
}

const isNewer = ({ ids: [one] }: DomainCursor, other: DomainCursor | undefined): boolean =>
  one !== undefined && (other?.ids[0] === undefined || one > other.ids[0]);

/** Reads the next ids of a domain. */
async function refill(db: Reads, line: DomainCursor, visitorId: string, limit: number): Promise<void> {
  const { domainNumber, before } = line;
  const found = await readByTime(
    db,
    (sql) => sql<{ id: string }[]>`
      select id from records
      where ${isVisitor(sql, { domain: domainNumber, visitorId })} and id < ${before}
        and ${isAround(sql, { below: before })}
      order by ${byTime(sql, 'desc')} limit ${limit}`,
  );
  line.ids = found.map(({ id }) => id);
  line.before = line.ids.at(-1) ?? before;
  line.isOver = line.ids.length < limit;
}
