/** A visitor's records of several domains, newest first, a page at a time. */

import type { Database } from '#libs/base/db/database';
import type { FoundRecord } from '#libs/proof/positions';
import { readVisitorRecords, type VisitorDomain } from './visitor-records.ts';

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
  db: Database,
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

async function refill(db: Database, line: Line, visitorId: string): Promise<void> {
  const { domainNumber, before } = line;
  line.records = await db.run((sql) => readVisitorRecords(sql, { domainNumber, visitorId, before, limit: pageSize }));
  line.before = line.records.at(-1)?.record.id ?? before;
  line.isOver = line.records.length < pageSize;
}
