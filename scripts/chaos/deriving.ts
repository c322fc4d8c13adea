import { recall } from '#libs/proof/witness';
import type { ChaosStack } from './stack.ts';

/** How far deriving is, and who is at it: the run's database is gone when anybody could look. */
export async function describeDeriving({ sql, counters: { client } }: ChaosStack): Promise<string> {
  const [found] = await sql(
    (own) => own<{ state: object; domainIds: string[] | null }[]>`
      select json_build_object(
        'epochs', (select json_agg(epochs) from epochs),
        'closed', (select json_build_array(count(*), min(epoch), max(epoch), max(closed_at)) from closed_epochs),
        'derivations', (select json_agg(derivations) from derivations),
        'logs', (select json_agg(l) from (
          select domain_number, log, size, checkpoint_size, last_epoch, waits_from, halted from logs
          where ended_at is null and (waits_from is not null or halted is not null or size <> checkpoint_size) limit 5
        ) as l),
        'active', (select json_agg(a) from (
          select pid, application_name, state, wait_event, xact_start, left(query, 100) as query
          from pg_stat_activity where xact_start is not null
        ) as a)
      ) as state,
      (
        select array_agg(domains.id) from logs join domains on number = domain_number
        where ended_at is null and (waits_from is not null or halted is not null)
      ) as "domainIds"`,
  );
  const witnessed = await recall(client, (found?.domainIds ?? []).slice(0, 5));
  return JSON.stringify({ ...found?.state, witnessed });
}
