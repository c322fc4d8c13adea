/** Removes personal fields from erased visitors' rejected records, so that `records replay` cannot bring them back. */

import type { Database } from '#libs/base/db/database';
import { type NewRecord, newRecord } from '#libs/record/contract';
import { listRejectedAfter, noteRejectedSearched, replaceRejected } from '#libs/record/rejected';

const pageSize = 500;

/** A copy of a record that is not stored yet, without its personal fields, as an erasure would leave it. */
export const withoutPersonal = ({
  visitorId: _,
  ip: __,
  userAgent: ___,
  pageUrl: ____,
  metadata: _____,
  ...rest
}: NewRecord): NewRecord => rest;

/** `onlyNew`: only records that no earlier call has checked. Returns how many were blanked. */
export async function blankRejected(
  db: Database,
  erasedOf: (records: NewRecord[]) => Promise<Set<NewRecord>>,
  { onlyNew }: { onlyNew: boolean },
): Promise<number> {
  let blanked = 0;
  let after = 0;
  for (;;) {
    const page = await db.read((sql) => listRejectedAfter(sql, { after, onlyNew, limit: pageSize }));
    after = page.at(-1)?.id ?? after;
    const read = page.flatMap(({ id, record }) => {
      const { data } = newRecord.safeParse(parsed(record));
      return data?.visitorId === undefined ? [] : [{ id, record: data }];
    });
    const erased = await erasedOf(read.map(({ record }) => record));
    for (const { id, record } of read) {
      if (!erased.has(record)) continue;
      await db.write((sql) => replaceRejected(sql, id, withoutPersonal(record)));
      blanked += 1;
    }
    await db.write((sql) => noteRejectedSearched(sql, page));
    if (page.length < pageSize) return blanked;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
