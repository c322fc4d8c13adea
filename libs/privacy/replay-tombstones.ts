/**
 * Repeats the erasures of tombstones after Postgres was restored from a backup. Tombstones contain only hashes, so all
 * visitors of their scope are read, page by page. A visitor who came only after their tombstone had ended is a new one.
 */
import type { Database, Sql } from '#libs/base/db/database';
import { chunksOf, groupBy } from '#libs/base/group-by';
import { nil } from '#libs/epochs/slices';
import { isVisitor } from '#libs/record/visitor-rows';
import { isInScope, numbersOf, type ScopeNumbers, type VisitorHash, type VisitorScope } from '#libs/tenants/visitors';
import { eraseVisitor, finishErasure } from './erasures.ts';
import { isWithin, listKnown, restoreTombstones, type Tombstone } from './tombstones.ts';

/**
 * How many records the backup brought back from before their visitor's erasure, and how many visitors have any. Visitors
 * with only later records are erased too, but not counted; nor are records stored since the tombstone was put back, which
 * are blanked anyway.
 */
interface Replayed {
  visitors: number;
  records: number;
}

/** records in one statement */
const pageSize = 5_000;

export async function replayTombstones(
  db: Database,
  {
    scope,
    tombstones,
    hashOf,
    previousHashOf,
    actor,
  }: {
    scope: VisitorScope;
    tombstones: Pick<Tombstone, 'hash' | 'erasedAt'>[];
    hashOf: VisitorHash;
    /** for tombstones under the previous key */
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
  // the organization or domain is newer than the backup
  if (!there?.isThere) return result;
  const known = new Map<string, number>();
  const numbers = await db.write(async (sql) => {
    const found = await numbersOf(sql, scope);
    for (const some of chunksOf(tombstones, pageSize)) {
      for (const { hash, epoch } of await listKnown(sql, found, some)) known.set(hash, epoch);
      await restoreTombstones(sql, found, some);
    }
    return found;
  });
  const byHash = groupBy(tombstones, ({ hash }) => hash);
  const done = new Set<string>();
  for await (const { visitorId, firstAt } of visitorsIn(db, numbers)) {
    const hash = hashOf(scope.organizationId, visitorId);
    const wanted = [hash, previousHashOf?.(scope.organizationId, visitorId)]
      .flatMap((each) => (each && byHash.get(each.toString('hex'))) ?? [])
      .filter((tombstone) => isWithin(tombstone, Date.parse(firstAt)));
    if (done.has(visitorId) || wanted.length === 0) continue;
    done.add(visitorId);
    const erasedAt = Math.max(...wanted.map((tombstone) => Date.parse(tombstone.erasedAt)));
    const before = { visitorId, erasedAt, epoch: known.get(hash.toString('hex')) };
    const records = await db.read((sql) => countBefore(sql, numbers, before));
    const begun = await eraseVisitor(db, { ...scope, visitorId, hash, actor });
    if (!begun.erasedAt) await finishErasure(db, scope, begun.erasureId);
    if (records > 0) result.visitors += 1;
    result.records += records;
  }
  return result;
}

/**
 * `epoch`: of a tombstone that already existed. Records from it on are blanked anyway and not counted. Undefined: none did.
 */
async function countBefore(
  sql: Sql,
  numbers: ScopeNumbers,
  { visitorId, erasedAt, epoch = null }: { visitorId: string; erasedAt: number; epoch: number | null | undefined },
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from domains join records r on ${isVisitor(sql, { domain: sql`number`, visitorId })}
    where ${isInScope(sql, numbers)} and (r.epoch < ${epoch}::integer or ${epoch}::integer is null)
      and (milliseconds_of(r.id) < ${erasedAt}::bigint or received_at < ${new Date(erasedAt)})`;
  return row?.count ?? 0;
}

/** `firstAt`: when the first of their records in this page came; RFC 3339. */
interface Seen {
  visitorId: string;
  firstAt: string;
}

async function* visitorsIn(db: Database, numbers: ScopeNumbers): AsyncGenerator<Seen> {
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

const readPage = (sql: Sql, domainNumber: number, after: string) => sql<{ visitors: Seen[]; last: string | null }[]>`
  with page as materialized (
    select id, visitor_id, received_at from records where domain_number = ${domainNumber} and id > ${after}
    order by id limit ${pageSize}
  ),
  visitors as (
    select visitor_id as "visitorId", min(received_at) as "firstAt" from page where visitor_id is not null group by 1
  )
  select coalesce((select json_agg(v) from visitors as v), '[]') as visitors,
    (select id from page order by id desc limit 1) as last`;
