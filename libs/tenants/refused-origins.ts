/** Origins that a domain refused, so that its managers see which ones are missing from its list. */

import type { Sql } from '#libs/base/db/database';
import { isOrigin } from '#libs/base/terms/origin';
import { createFairNotes, type FairNotes, type NotedParts } from './fair-notes.ts';

/** of a domain: the newest */
const stored = 10;

export interface RefusedOrigin {
  origin: string;
  refusedAt: Date;
}

/** Makes room by deleting the domain's oldest, and those of more than 30 days ago. */
const noteRefusedOrigin = (sql: Sql, domainId: string, origin: string) => sql`
  with noted as (
    insert into refused_origins (domain_number, origin)
    select number, ${origin} from domains where id = ${domainId}
    on conflict (domain_number, origin) do update set refused_at = excluded.refused_at
    returning domain_number
  ),
  others as (
    select domain_number, origin, refused_at, row_number() over (order by refused_at desc) as place
    from refused_origins join noted using (domain_number)
    where origin <> ${origin}
  )
  delete from refused_origins r using others o
  where r.domain_number = o.domain_number and r.origin = o.origin
    and (o.place >= ${stored} or o.refused_at < now() - interval '30 days')`;

/** Newest first. */
export const listRefusedOrigins = (sql: Sql, domainNumber: number) => sql<RefusedOrigin[]>`
  select origin, refused_at as "refusedAt" from refused_origins
  where domain_number = ${domainNumber} and refused_at > now() - interval '30 days'
  order by refused_at desc, origin limit ${stored}`;

/** characters */
const longest = 255;

export type RefusedOriginLog = FairNotes<string>;

export const createRefusedOriginLog = (parts: NotedParts): RefusedOriginLog =>
  createFairNotes(parts, {
    write: noteRefusedOrigin,
    nameOf: (origin) => origin,
    isAccepted: (origin) => origin.length <= longest && couldBeListed(origin),
  });

/** No browser sends a `*`: an origin that a program made up must not become a wildcard on the list with one click. */
const couldBeListed = (origin: string): boolean => isOrigin(origin) && !origin.includes('*');
