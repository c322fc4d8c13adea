/** Time-stamps of checkpoints: the authority's token, and the path to it from a log's checkpoint. */

import type { Sql } from '#libs/base/db/database';
import { chunksOf } from '#libs/base/group-by';
import type { LogName } from '../runs.ts';
import { base64 } from '../tree/bytes.ts';
import { hashLength } from '../tree/hash.ts';

/** rows per statement */
const chunk = 500;

/** The time-stamp in a bundle. */
export interface Timestamp {
  /** the signed note, whose body is the leaf of the tree */
  checkpoint: string;
  index: number;
  /** leaves of the tree */
  size: number;
  /** base64, the leaf's sibling first */
  path: string[];
  /** base64 of the RFC 3161 token over the tree's root */
  token: string;
}

/**
 * The newest time-stamp of a log. With `position`, the oldest one that covers that entry, which is the best evidence of
 * when the entry existed. Null if there is none.
 */
export async function findTimestamp(
  sql: Sql,
  { domainNumber, log }: LogName,
  position?: number,
): Promise<Timestamp | null> {
  const isFirst = position !== undefined;
  const [found] = await sql<{ checkpoint: string; index: number; size: number; path: Buffer; token: Buffer }[]>`
    select checkpoint, place as "index", timestamps.size, path, token
    from stamped_checkpoints as c join timestamps on timestamps.number = timestamp_number
    where domain_number = ${domainNumber} and log = ${log} and ${isFirst ? sql`c.size > ${position}` : sql`true`}
    order by timestamp_number ${isFirst ? sql`asc` : sql`desc`} limit 1`;
  if (!found) return null;
  const hashes = Array.from({ length: found.path.length / hashLength }, (_, at) =>
    base64(found.path.subarray(at * hashLength, (at + 1) * hashLength)),
  );
  return { ...found, path: hashes, token: base64(found.token) };
}

interface Leaf extends LogName {
  /** entries that the checkpoint covers */
  size: number;
  /** the signed note */
  checkpoint: string;
  /** the note without its signatures, its last newline included */
  body: string;
  /** whether it differs from the checkpoint that was stamped last */
  isNew: boolean;
}

const bodyOf = (sql: Sql, column: 'checkpoint' | 'stamped.checkpoint') =>
  sql.unsafe(`left(${column}, position(E'\\n\\n' in ${column}))`);

/**
 * The newest checkpoints of all domains, and the last ones of logs that ended before they were stamped, in byte order of
 * their origins.
 */
export const listLeaves = (sql: Sql): Promise<Leaf[]> => sql<Leaf[]>`
  with published as (
    select domain_number as "domainNumber", log, checkpoint_size as size, checkpoint, origin, ended_at,
      ${bodyOf(sql, 'checkpoint')} as body,
      ${bodyOf(sql, 'checkpoint')} is distinct from (
        select ${bodyOf(sql, 'stamped.checkpoint')} from stamped_checkpoints as stamped
        where stamped.domain_number = logs.domain_number and stamped.log = logs.log
        order by timestamp_number desc limit 1
      ) as "isNew"
    from logs
    where checkpoint_size > 0
  )
  select "domainNumber", log, size, checkpoint, body, "isNew" from published
  where ended_at is null or "isNew"
  order by origin collate "C"`;

interface StampedLeaf extends Leaf {
  place: number;
  path: Uint8Array[];
}

/** Stores a token and its new leaves. Runs in a transaction. */
export async function addTimestamp(
  sql: Sql,
  { root, size, token }: { root: Uint8Array; size: number; token: Uint8Array },
  leaves: StampedLeaf[],
): Promise<void> {
  const [added] = await sql<{ number: number }[]>`
      insert into timestamps (root, size, token, stamped_at)
      values (${Buffer.from(root)}, ${size}, ${Buffer.from(token)}, clock_timestamp())
      returning number`;
  if (!added) throw new Error('Postgres did not say which number the time-stamp has');
  for (const some of chunksOf(leaves, chunk)) {
    const rows = some.map((leaf) => ({ ...leaf, path: Buffer.concat(leaf.path).toString('base64') }));
    await sql`
        insert into stamped_checkpoints (domain_number, log, timestamp_number, place, size, checkpoint, path)
        select "domainNumber", log, ${added.number}, place, size, checkpoint, decode(path, 'base64')
        from json_to_recordset(${JSON.stringify(rows)}::text::json) as s (
          "domainNumber" integer, log integer, place integer, size bigint, checkpoint text, path text
        )`;
  }
}
