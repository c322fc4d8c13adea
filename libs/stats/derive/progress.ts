/** How far one domain's epoch is that is added in several pieces. */

import type { Sql } from '#libs/base/db/database';
import { nil } from '#libs/record/epoch-records';

interface Place {
  epoch: number;
  domainNumber: number;
}

/** The record up to which it is added, the nil UUID for none. */
export async function addedThrough(sql: Sql, { epoch, domainNumber }: Place): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select id from facet_progress where epoch = ${epoch} and domain_number = ${domainNumber}`;
  return row?.id ?? nil;
}

export async function noteAdded(sql: Sql, { epoch, domainNumber }: Place, id: string): Promise<void> {
  await sql`
    insert into facet_progress (epoch, domain_number, id) values (${epoch}, ${domainNumber}, ${id})
    on conflict (single) do update set
      epoch = excluded.epoch, domain_number = excluded.domain_number, id = excluded.id`;
}
