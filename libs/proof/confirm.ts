/** Confirming: logs that the guard halted because the server is another one may go on, as nothing is missing. */
import type { Sql } from '#libs/base/db/database';
import type { Perform } from '#libs/tenants/audited-change';
import { type Published, setHalted } from './checkpoints.ts';
import type { Halted } from './heads.ts';

interface Wanted {
  after: number;
  limit: number;
  only: string[];
}

/**
 * Of the next unconfirmed logs after domain `after` (all, or those of `only`) lets those go on that `judge` does not
 * find behind. Returns what was judged; undefined after the last.
 */
export const confirmLogs = (
  perform: Perform,
  wanted: Wanted,
  judge: (logs: Published[]) => Promise<(Halted | null)[]>,
) =>
  perform(async (sql, note) => {
    const logs = await lockUnconfirmed(sql, wanted);
    const judged = await judge(logs);
    const changes = logs.map((own, at) => ({ ...own, halted: judged[at] ?? null }));
    await setHalted(sql, changes);
    for (const { domainId, log, checkpointSize, halted } of changes) {
      if (halted) continue;
      await note({ act: 'log.confirm', subject: domainId, domainId, details: { log, size: checkpointSize } });
    }
    return changes.length > 0 ? changes : undefined;
  });

/** Until the transaction ends nobody else changes them. */
const lockUnconfirmed = (sql: Sql, { after, limit, only }: Wanted): Promise<Published[]> => sql<Published[]>`
  select domain_number as "domainNumber", domains.id as "domainId", log, size, checkpoint_size as "checkpointSize",
    split_part(checkpoint, E'\n', 3) as root, halted
  from logs join domains on domains.number = domain_number
  where ended_at is null and halted = 'unconfirmed' and domain_number > ${after}
    and (${only.length === 0} or domains.id = any(${only}))
  order by domain_number limit ${limit}
  for update of logs`;
