/** Families of user agents. An erased record keeps the family, so that statistics by device and browser stay correct. */
import type { Sql } from '#libs/base/db/database';

/** The families of these user agents by number. A family is its own family. Missing ones are added. */
export async function erasedFamiliesOf(sql: Sql, numbers: number[]): Promise<{ number: number; family: number }[]> {
  if (numbers.length === 0) return [];
  const named = sql`
    select
      number, device, browser,
      case
        when is_family then text
        else 'erased: ' || coalesce(nullif(concat_ws(', ', browser, device), ''), 'unknown')
      end as family
    from user_agents where number = any(${numbers})`;
  await sql`
    insert into user_agents (added_on, is_family, crawler, device, browser, text)
    select distinct on (family) (clock_timestamp() at time zone 'UTC')::date, true, false, device, browser, family
    from (${named}) as named
    where not exists (select from user_agents a where a.is_family and a.text = family)
    order by family
    on conflict do nothing`;
  return sql<{ number: number; family: number }[]>`
    select named.number, a.number as family
    from (${named}) as named join user_agents as a on a.is_family and a.text = named.family`;
}
