/** Retention. */

import { by, type GaugeQuery } from '#libs/base/ops/sampled-gauges';
import { type Act, roundsNeeded } from '#libs/record/due-months';

export const retentionBacklog: GaugeQuery<Record<Act, number>> = {
  ask: async (sql) => {
    const [row] = await sql<Record<Act, number>[]>`
      select
        count(*) filter (where drop_round_at is not null)::int as drop,
        -- one that was blanked is looked at again, for what an import brings
        count(*) filter (
          where blank_round_at is not null and blank_rounds < ${roundsNeeded} and blanked_through = 0
        )::int as blank
      from record_months where dropped_at is null`;
    return row ?? { drop: 0, blank: 0 };
  },
  gauges: [
    {
      name: 'assent_months_due',
      help: 'Months past retention that are dropped (drop), or lose their personal fields (blank), within a day, by act',
      labelNames: ['act'],
      values: (months) => by('act', months),
    },
  ],
};
