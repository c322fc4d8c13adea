/** Families of user agents: what a record keeps of its own once it is erased, so that statistics by device and browser stay. */
import type { Sql } from '#libs/base/db/database';

interface Family {
  text: string;
  crawler: boolean;
  device: string | null;
  browser: string | null;
}

/**
 * The family of each of these user agents, by number; a family is its own. Those that are missing are added, and noted for
 * the months of the records that will name them. No lock of a log may be waited for after this.
 */
export async function familiesOf(sql: Sql, named: { number: number; month: string }[]): Promise<Map<number, number>> {
  if (named.length === 0) return new Map();
  const months = [...new Set(named.map(({ month }) => month))];
  const wanted = await sql<(Family & { number: number })[]>`
    select
      number, crawler, device, browser,
      case
        when is_family then text
        else 'family: ' || coalesce(nullif(concat_ws(', ', case when crawler then 'crawler' end, browser, device), ''), 'unknown')
      end as text
    from user_agents where number = any(${[...new Set(named.map(({ number }) => number))]})`;
  const families = new Map<string, Family>(wanted.map(({ number: _, ...family }) => [family.text, family]));
  const find = async () => {
    const rows = await sql<{ number: number; text: string }[]>`
      select number, text from user_agents where is_family and text = any(${[...families.keys()]}) for key share`;
    return new Map(rows.map(({ number, text }) => [text, number]));
  };
  let found = await find();
  const lacking = [...families.values()].filter(({ text }) => !found.has(text));
  if (lacking.length > 0) {
    const added = lacking.map((family) => ({ ...family, isFamily: true, months }));
    await sql`select add_user_agents(${JSON.stringify(added)}::text::json, 0)`;
    found = await find();
  }
  await sql`
    insert into user_agent_months (number, month)
    select number, month from unnest(${[...found.values()]}::integer[]) as number cross join unnest(${months}::text[]) as month
    order by 1, 2 on conflict do nothing`;
  return new Map(
    wanted.flatMap(({ number, text }) => {
      const family = found.get(text);
      return family === undefined ? [] : [[number, family] as const];
    }),
  );
}
