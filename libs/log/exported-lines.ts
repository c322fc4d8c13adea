/** An export: the lines of all matching records of some domains, in pages. */
import type { Database, Reads } from '#libs/base/db/database';
import { addVisitorAct, type VisitorHash } from '#libs/tenants/visitors';
import { type DomainExport, readDomain } from './export/domain-records.ts';
import { headers } from './export/lines.ts';

export interface ExportRequest extends Omit<DomainExport, 'domainId' | 'epoch' | 'after'> {
  /** in the order of their ids */
  domainIds: string[];
  /** the record after which to continue */
  after?: { domainId: string; id: string } | undefined;
}

interface ExportPart {
  /** UTF-8 */
  text: Buffer;
  /** records in it */
  count: number;
  /** its last record */
  last: { domainId: string; id: string } | null;
}

/** Every record stored before this call is in the returned epoch or an earlier one, even while an epoch is being closed. */
export async function readOpenEpoch(db: Reads): Promise<number> {
  const [row] = await db.read((sql) => sql<{ open: number }[]>`select greatest(open, filling) as open from epochs`);
  if (!row) throw new Error('there is no open epoch');
  return row.open;
}

/**
 * `header`: false if the lines are added to a file; `before`: the number of records in it, which the last line counts too.
 * The text of a page without a match is empty. In NDJSON, the last one says that the export is complete.
 */
export async function* readExport(
  db: Reads,
  wanted: ExportRequest,
  epoch: number,
  { header = true, before = 0 } = {},
): AsyncGenerator<ExportPart> {
  const { domainIds, after, ...rest } = wanted;
  if (header) yield { text: Buffer.from(headers[rest.format]), count: 0, last: null };
  let total = before;
  for (const domainId of domainIds) {
    if (after && domainId < after.domainId) continue;
    const from = domainId === after?.domainId ? after.id : undefined;
    for await (const { text, count, last } of readDomain(db, { ...rest, domainId, epoch, after: from })) {
      total += count;
      yield { text, count, last: last === null ? null : { domainId, id: last } };
    }
  }
  if (rest.format === 'ndjson')
    yield { text: Buffer.from(`${JSON.stringify({ end: true, count: total })}\n`), count: 0, last: null };
}

/**
 * Notes the export as an administrative act. `domainId`: set for an export of one domain; `hashOf`: undefined without
 * PRIVACY_KEY.
 */
export function noteExport(
  db: Database,
  { organizationId, visitorId, domainIds: _, after, ...filters }: ExportRequest,
  { actor, domainId, hashOf }: { actor: string; domainId: string | undefined; hashOf: VisitorHash | undefined },
): Promise<void> {
  const hash = visitorId === undefined ? null : (hashOf?.(organizationId, visitorId) ?? null);
  const details = { ...filters, ...(after && { after: `${after.domainId}/${after.id}` }) };
  return db.write((sql) =>
    addVisitorAct(sql, { organizationId, domainId, actor, act: 'records.export', hash, details }),
  );
}
