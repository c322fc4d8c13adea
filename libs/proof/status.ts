/** The state of the logs, for the operator. */

import type { Sql } from '#libs/base/db/database';
import { secondsBehind } from '#libs/epochs/closed-epochs';
import { lastEpochDone } from '#libs/epochs/derivations';
import { type Halted, sealing } from './heads.ts';

interface LogStatus {
  domainId: string;
  log: number;
  /** entries that its newest checkpoint covers */
  size: number;
  /** when that was signed; null before the first */
  sealedAt: Date | null;
  halted: Halted | null;
}

/** The newest log of every domain, or only the logs that are halted for this reason. */
export const listLogStatus = (sql: Sql, halted?: Halted): Promise<LogStatus[]> => sql<LogStatus[]>`
  select domains.id as "domainId", log, checkpoint_size as size, sealed_at as "sealedAt", halted
  from logs join domains on domains.number = domain_number
  where ended_at is null and (${halted ?? null}::text is null or halted = ${halted ?? null})
  order by domains.created_at, domains.id`;

/** Seconds since the oldest unsealed epoch was closed; undefined if nothing was ever sealed. */
export async function sealingLag(sql: Sql): Promise<number | undefined> {
  const done = await lastEpochDone(sql, sealing);
  return done === 0 ? undefined : secondsBehind(sql, done);
}
