/** Which epochs are closed, and since when. */

import type { Sql } from '#libs/base/db/database';

/**
 * Keeps the open epoch from being closed until this transaction ends. So everything that any transaction stores meanwhile
 * is derived only afterwards. Returns false if that epoch is already being closed: this transaction can no longer keep it
 * open.
 */
export async function holdEpoch(sql: Sql): Promise<boolean> {
  const [held] = await sql<{ epoch: number }[]>`select open_epoch() as epoch`;
  const [row] = await sql<{ open: number }[]>`select open from epochs`;
  return held !== undefined && held.epoch === row?.open;
}

/** The newest closed epoch, 0 for none. */
export async function lastClosedEpoch(sql: Sql): Promise<number> {
  const [row] = await sql<{ epoch: number }[]>`select open - 1 as epoch from epochs`;
  return row?.epoch ?? 0;
}

/** How many seconds ago the oldest closed epoch after `epoch` was closed; 0 if there is none. */
export async function secondsBehind(sql: Sql, epoch: number): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select greatest(0, extract(epoch from clock_timestamp() - closed_at))::float8 as seconds
    from closed_epochs where epoch > ${epoch} order by epoch limit 1`;
  return row?.seconds ?? 0;
}

/**
 * Deletes the closing times of epochs that all these derivations have finished. The newest such epoch and the last closed
 * epoch keep theirs.
 */
export async function deleteClosingTimes(sql: Sql, derivations: string[]): Promise<void> {
  await sql`
    delete from closed_epochs
    where epoch < (select open - 1 from epochs) and epoch < (
      select min(coalesce(derivations.epoch, 0))
      from unnest(${derivations}::text[]) as name left join derivations using (name)
    )`;
}
