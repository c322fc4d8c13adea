/** Reads everything that is stored of logs, for the check that recomputes them. */

import type { Database, Sql } from '#libs/base/db/database';
import { columns, type LoggedRecord, type Row, toLoggedRecord } from '#libs/record/fields';
import { joinReferences } from '#libs/record/references';
import type { Halted } from '../heads.ts';
import type { LogName } from '../runs.ts';

export interface StoredDomain {
  domainNumber: number;
  domainId: string;
  /** records of epochs up to this one have positions; for a waiting log, the epoch before the one it waits from */
  sealedThrough: number;
  /** oldest first */
  logs: StoredLog[];
}

export interface StoredLog {
  log: number;
  origin: string;
  size: number;
  /** hex */
  frontier: string;
  lastEpoch: number;
  lastId: string;
  halted: Halted | null;
  checkpointSize: number;
  checkpoint: string | null;
  /** newest first */
  verifierKeys: string[];
}

/** The next domains after `after`, including those without a log. `only`: one domain. */
export const listStoredDomains = (
  sql: Sql,
  { after, limit, only }: { after: number; limit: number; only?: string | undefined },
): Promise<StoredDomain[]> => sql<StoredDomain[]>`
  select number as "domainNumber", id as "domainId",
    coalesce(
      (select waits_from - 1 from logs where domain_number = number and ended_at is null),
      (select epoch + (domain_number >= number)::int from derivations where name = 'seal'),
      0
    ) as "sealedThrough",
    (
      select coalesce(json_agg(json_build_object(
        'log', log, 'origin', origin, 'size', size, 'frontier', encode(frontier, 'hex'), 'lastEpoch', last_epoch,
        'lastId', last_id, 'halted', halted, 'checkpointSize', checkpoint_size, 'checkpoint', checkpoint,
        'verifierKeys', (
          select coalesce(json_agg(verifier_key order by added_at desc), '[]') from log_keys
          where log_keys.domain_number = logs.domain_number and log_keys.log = logs.log
        )
      ) order by log), '[]')
      from logs where logs.domain_number = number
    ) as logs
  from domains
  where number > ${after} and (${only ?? null}::text is null or id = ${only ?? null})
  order by number limit ${limit}`;

export interface StoredRun {
  first: number;
  entries: number;
  ids: Buffer | null;
  secrets: Buffer | null;
  leaves: Buffer;
}

export interface StoredPiece {
  /** in order */
  runs: StoredRun[];
  /** stored records by position */
  records: Map<number, LoggedRecord>;
  /** texts of entries that are not a record's, by position */
  texts: Map<number, string>;
  /** roots of complete tiles by number */
  nodes: Map<number, Buffer>;
  /** the commitments `private` of erased records, by position */
  erased: Map<number, Buffer>;
}

type StoredRow = Omit<Row, 'receivedAt' | 'erasedAt' | 'importedAt'> & {
  receivedAt: string;
  importedAt: string | null;
  erasedAt: string | null;
  position: number;
};

const toRecord = (row: StoredRow): LoggedRecord =>
  toLoggedRecord({
    ...row,
    receivedAt: new Date(row.receivedAt),
    erasedAt: row.erasedAt === null ? null : new Date(row.erasedAt),
    importedAt: row.importedAt === null ? null : new Date(row.importedAt),
  });

/** A snapshot of the stored entries `from` to `below`, which are boundaries of tiles. */
export const readPiece = (
  db: Database,
  { domainNumber, log }: LogName,
  { from, below }: { from: number; below: number },
): Promise<StoredPiece> =>
  db.read(
    async (sql) => {
      const ofPiece = sql`
        domain_number = ${domainNumber} and log = ${log} and first >= ${from} and first < ${below}`;
      const [runs, texts, nodes, erased, [all]] = await Promise.all([
        sql<StoredRun[]>`
          select first, entries, ids, secrets, leaves from log_runs where ${ofPiece} order by first`,
        sql<{ position: number; text: string }[]>`
          select position, text from log_texts
          where domain_number = ${domainNumber} and log = ${log} and position >= ${from} and position < ${below}`,
        sql<{ n: number; hash: Buffer }[]>`
          select n, hash from log_nodes
          where domain_number = ${domainNumber} and log = ${log} and level = 1
            and n >= ${from}::bigint / 256 and n < ${below}::bigint / 256`,
        sql<{ position: number; private: Buffer }[]>`
          select position, private from erased_commitments
          where domain_number = ${domainNumber} and log = ${log} and position >= ${from} and position < ${below}`,
        // One lookup per entry, independent of statistics: `offset 0` prevents the planner from choosing another join.
        // The empty text makes Postgres read the ids once instead of once per entry. A single JSON text is parsed in half the
        // time of rows.
        sql<{ records: StoredRow[] }[]>`
          with runs as materialized (
            select first, entries, ids || ''::bytea as ids from log_runs where ${ofPiece}
          )
          select coalesce(json_agg(r), '[]') as records
          from runs
          cross join lateral generate_series(0, least(entries, length(ids) / 16) - 1) as place
          cross join lateral (
            select first + place as position, ${columns(sql)} from records r ${joinReferences(sql)}
            where r.domain_number = ${domainNumber}
              and r.id = encode(substr(ids, place * 16 + 1, 16), 'hex')::uuid
            offset 0
          ) as r`,
      ]);
      return {
        runs: [...runs],
        texts: new Map(texts.map(({ position, text }) => [position, text])),
        nodes: new Map(nodes.map(({ n, hash }) => [n, hash])),
        erased: new Map(erased.map((each) => [each.position, each.private])),
        records: new Map(all?.records.map((row) => [row.position, toRecord(row)])),
      };
    },
    { snapshot: true },
  );

/** The hashes of subtrees of 65,536 entries and more, by level and number. */
export async function readUpperNodes(sql: Sql, { domainNumber, log }: LogName): Promise<Map<string, Buffer>> {
  const nodes = await sql<{ level: number; n: number; hash: Buffer }[]>`
    select level, n, hash from log_nodes where domain_number = ${domainNumber} and log = ${log} and level > 1`;
  return new Map(nodes.map(({ level, n, hash }) => [`${level}/${n}`, hash]));
}
