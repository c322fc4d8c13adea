/** All records of a visitor, newest first, in pages by key: no cursor and no snapshot is open between two of them. */
import type { Reads, Sql } from '#libs/base/db/database';
import { type FoundRecord, type FoundRow, foundColumns, joinLog, toFound } from '#libs/proof/positions';
import type { FullRecord } from '#libs/record/contract';
import { isVisitor, joinNames } from '#libs/record/joined-names';
import { isInScope, numbersOf, type VisitorScope } from '#libs/tenants/visitors';

export interface VisitorDomain {
  domainNumber: number;
  domainId: string;
  /** the newest */
  record: Pick<FullRecord, 'decision' | 'preferences'> & { id: string };
}

/** The domains where the visitor has records. */
export async function listVisitorDomains(sql: Sql, scope: VisitorScope, visitorId: string): Promise<VisitorDomain[]> {
  const numbers = await numbersOf(sql, scope);
  return sql<VisitorDomain[]>`
    select number as "domainNumber", domains.id as "domainId",
      json_build_object('id', r.id, 'decision', r.decision, 'preferences', r.preferences) as record
    from domains cross join lateral (
      select id, decision, preferences from records
      where domain_number = number and ${isVisitor(sql, visitorId)} order by id desc limit 1
    ) as r
    where ${isInScope(sql, numbers)} order by domains.id`;
}

/** The next ones of a domain before the id `before`. */
async function readVisitorRecords(
  sql: Sql,
  {
    domainNumber,
    visitorId,
    before,
    limit,
  }: { domainNumber: number; visitorId: string; before: string; limit: number },
): Promise<FoundRecord[]> {
  const rows = await sql<FoundRow[]>`
    select ${foundColumns(sql)}
    from (
      select * from records
      where domain_number = ${domainNumber} and ${isVisitor(sql, visitorId)} and id < ${before}
      order by id desc limit ${limit}
    ) as r ${joinNames(sql)} ${joinLog(sql)}
    order by r.id desc`;
  return rows.map(toFound);
}

/** records that are read at once */
const pageSize = 200;
/** after all others */
const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

interface Line {
  domainNumber: number;
  records: FoundRecord[];
  before: string;
  isOver: boolean;
}

export async function* newestFirst(
  db: Reads,
  domains: VisitorDomain[],
  visitorId: string,
): AsyncGenerator<FoundRecord[]> {
  const lines: Line[] = domains.map(({ domainNumber }) => ({ domainNumber, records: [], before: last, isOver: false }));
  let page: FoundRecord[] = [];
  for (;;) {
    for (const line of lines) if (line.records.length === 0 && !line.isOver) await refill(db, line, visitorId);
    const next = lines.reduce<Line | undefined>((newest, line) => (isNewer(line, newest) ? line : newest), undefined);
    const record = next?.records.shift();
    if (record) page.push(record);
    if (page.length === pageSize || (!record && page.length > 0)) {
      yield page;
      page = [];
    }
    if (!record) return;
  }
}

const isNewer = ({ records: [one] }: Line, other: Line | undefined): boolean =>
  one !== undefined && (other?.records[0] === undefined || one.record.id > other.records[0].record.id);

async function refill(db: Reads, line: Line, visitorId: string): Promise<void> {
  const { domainNumber, before } = line;
  line.records = await db.read((sql) => readVisitorRecords(sql, { domainNumber, visitorId, before, limit: pageSize }));
  line.before = line.records.at(-1)?.record.id ?? before;
  line.isOver = line.records.length < pageSize;
}
