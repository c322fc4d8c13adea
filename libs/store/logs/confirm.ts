/** Confirming: logs that the guard halted because the server is another one may go on, as nothing is missing. */
import type { Sql } from '../sql.ts';
import type { Published } from './checkpoints.ts';

/** The next unconfirmed logs after domain `after`, locked until the transaction ends; all, or those of `only`. */
export const lockUnconfirmed = (
  sql: Sql,
  { after, limit, only }: { after: number; limit: number; only: string[] },
): Promise<Published[]> => sql<Published[]>`
  select domain_number as "domainNumber", domains.id as "domainId", log, size, checkpoint_size as "checkpointSize",
    split_part(checkpoint, E'\n', 3) as root, halted
  from logs join domains on domains.number = domain_number
  where ended_at is null and halted = 'unconfirmed' and domain_number > ${after}
    and (${only.length === 0} or domains.id = any(${only}))
  order by domain_number limit ${limit}
  for update of logs`;
