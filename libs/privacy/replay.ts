/**
 * Erases again whom tombstones name, after Postgres was restored from a backup. Only hashes are left of them, so all
 * visitors of their scope are looked at, a page at a time.
 */
import type { Database, Sql } from '#libs/base/db/database';
import { nil } from '#libs/record/epoch-records';
import { isInScope, numbersOf, type ScopeNumbers, type VisitorHash, type VisitorScope } from '#libs/tenants/visitors';
import { eraseVisitor, finishErasure } from './erasures.ts';
import { addTombstone } from './tombstones.ts';

interface Replayed {
  /** who was there again */
  visitors: number;
  records: number;
}

/** records that are looked at in one statement */
const pageSize = 5_000;

export async function replayTombstones(
  db: Database,
  {
    scope,
    hashes,
    hashOf,
    previousHashOf,
    actor,
  }: {
    scope: VisitorScope;
    hashes: string[];
    hashOf: VisitorHash;
    /** tombstones may be under the key before, too */
    previousHashOf?: VisitorHash | undefined;
    actor: string;
  },
): Promise<Replayed> {
  const result: Replayed = { visitors: 0, records: 0 };
  const [there] = await db.read(
    (sql) => sql<{ isThere: boolean }[]>`
      select exists (
        select from organizations o where id = ${scope.organizationId} and (
          ${scope.domainId ?? null}::text is null
          or exists (select from domains where id = ${scope.domainId ?? null} and organization_id = o.id)
        )
      ) as "isThere"`,
  );
  // it was made after the backup
  if (!there?.isThere) return result;
  const wanted = new Set(hashes);
  const numbers = await db.write(async (sql) => {
    const found = await numbersOf(sql, scope);
    for (const hash of wanted) await addTombstone(sql, found, Buffer.from(hash, 'hex'));
    return found;
  });
  const done = new Set<string>();
  for await (const visitorId of visitorsIn(db, numbers)) {
    const hash = hashOf(scope.organizationId, visitorId);
    const isWanted = [hash, previousHashOf?.(scope.organizationId, visitorId)].some(
      (each) => each && wanted.has(each.toString('hex')),
    );
    if (done.has(visitorId) || !isWanted) continue;
    done.add(visitorId);
    const begun = await eraseVisitor(db, { ...scope, visitorId, hash, actor });
    const { records } = begun.erasedAt ? begun : await finishErasure(db, scope, begun.erasureId);
    result.visitors += 1;
    result.records += records;
  }
  return result;
}

async function* visitorsIn(db: Database, numbers: ScopeNumbers): AsyncGenerator<string> {
  const domains = await db.read(
    (sql) => sql<{ number: number }[]>`select number from domains where ${isInScope(sql, numbers)} order by number`,
  );
  for (const { number } of domains) {
    let after: string | null = nil;
    while (after !== null) {
      const from: string = after;
      const [page] = await db.read((sql) => readPage(sql, number, from));
      yield* page?.visitors ?? [];
      after = page?.last ?? null;
    }
  }
}

const readPage = (sql: Sql, domainNumber: number, after: string) => sql<{ visitors: string[]; last: string | null }[]>`
  select coalesce(json_agg(distinct visitor_id) filter (where visitor_id is not null), '[]') as visitors,
    (array_agg(id order by id desc))[1] as last
  from (
    select id, visitor_id from records where domain_number = ${domainNumber} and id > ${after}
    order by id limit ${pageSize}
  ) as page`;
