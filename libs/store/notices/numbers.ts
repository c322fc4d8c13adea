/**
 * Notices by number: each hash that a record of a domain names is one row, which records name. A process remembers those
 * that it has met, so that a record costs a look into its memory; new ones of a batch are one statement. That statement is
 * committed before the records are stored, and marks its rows as named: they are never deleted, so no remembered number
 * is one that is gone, and a batch that fails leaves no more than a row that nothing names.
 */
import type { NewRecord } from '#libs/contract/record';
import type { Database } from '../sql.ts';

/** Numbers by hash, by domain. */
type Known = Map<string, Map<string, number>>;

interface Memory {
  generation: number;
  known: Known;
  size: number;
}

/**
 * In the order of the records; undefined where one names no notice, or its domain does not exist. Anyone may make up hashes:
 * with more than `remembered` a process begins anew, which costs a statement.
 */
export async function noticeNumbersOf(
  db: Database,
  records: NewRecord[],
  remembered = 40_000,
): Promise<(number | undefined)[]> {
  const memory = memoryOf(db, remembered);
  const numberOf = ({ domainId, notice }: NewRecord) =>
    notice === undefined ? undefined : memory.known.get(domainId)?.get(notice);
  const found = records.map(numberOf);
  const unknown = records.filter(({ notice }, at) => notice !== undefined && found[at] === undefined);
  if (unknown.length === 0) return found;
  await name(db, memory, unknown);
  return records.map(numberOf);
}

const memories = new WeakMap<Database, Memory>();

/** After a lost connection the database may be another one, restored or promoted, with other numbers. */
function memoryOf(db: Database, remembered: number): Memory {
  const kept = memories.get(db);
  if (kept?.generation === db.generation() && kept.size <= remembered) return kept;
  const memory: Memory = { generation: db.generation(), known: new Map(), size: 0 };
  memories.set(db, memory);
  return memory;
}

/** Finds the rows of these records, marks them as named, and makes those that are not there. */
async function name(db: Database, memory: Memory, records: NewRecord[]): Promise<void> {
  const wanted = new Map(records.map(({ domainId, notice }) => [`${domainId} ${notice}`, { domainId, notice }]));
  const list = JSON.stringify([...wanted.values()]);
  // in order, so that two batches wait for each other in one direction and cannot deadlock
  const rows = await db.run(
    (sql) => sql<{ domainId: string; notice: string; number: number }[]>`
      with wanted as materialized (
        select d.id as domain_id, d.number as domain_number, decode(w.notice, 'hex') as hash
        from json_to_recordset(${list}::text::json) as w ("domainId" text, notice text)
        join domains d on d.id = w."domainId"
      ),
      found as materialized (
        select n.number, domain_number, hash from wanted join notices n using (domain_number, hash)
        where n.named_at is not null
      ),
      named as (
        insert into notices as n (domain_number, hash, named_at)
        select domain_number, hash, clock_timestamp() from wanted
        where not exists (
          select from found where found.domain_number = wanted.domain_number and found.hash = wanted.hash
        )
        order by 1, 2
        on conflict (domain_number, hash) do update set named_at = coalesce(n.named_at, excluded.named_at)
        returning number, domain_number, hash
      )
      select domain_id as "domainId", encode(hash, 'hex') as notice, number
      from (select * from found union all select * from named) as each join wanted using (domain_number, hash)`,
  );
  for (const { domainId, notice, number } of rows) {
    const ofDomain = memory.known.get(domainId) ?? new Map<string, number>();
    memory.known.set(domainId, ofDomain);
    if (!ofDomain.has(notice)) memory.size += 1;
    ofDomain.set(notice, number);
  }
}
