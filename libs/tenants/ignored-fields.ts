/** Fields that records and displays of a domain lost, shown to the people who integrate it. Values are never stored. */
import type { Sql } from '#libs/base/db/database';
import { createFairNotes, type NotedParts } from './fair-notes.ts';

/** of a domain: the newest */
const stored = 20;

interface IgnoredField {
  field: string;
  /** the rule that the value broke */
  why: string;
  type: string;
  length: number | null;
}

/** Makes room by deleting the domain's oldest, and those of more than 30 days ago. */
const noteIgnoredField = (sql: Sql, domainId: string, { field, why, type, length }: IgnoredField) => sql`
  with noted as (
    insert into ignored_fields (domain_number, field, why, type, length)
    select number, ${field}, ${why}, ${type}, ${length} from domains where id = ${domainId}
    on conflict (domain_number, field) do update set
      why = excluded.why, type = excluded.type, length = excluded.length, ignored_at = excluded.ignored_at
    returning domain_number
  ),
  others as (
    select domain_number, field, ignored_at, row_number() over (order by ignored_at desc) as place
    from ignored_fields join noted using (domain_number)
    where field <> ${field}
  )
  delete from ignored_fields i using others o
  where i.domain_number = o.domain_number and i.field = o.field
    and (o.place >= ${stored} or o.ignored_at < now() - interval '30 days')`;

/** Newest first. */
export const listIgnoredFields = (sql: Sql, domainNumber: number) => sql<(IgnoredField & { ignoredAt: Date })[]>`
  select field, why, type, length, ignored_at as "ignoredAt" from ignored_fields
  where domain_number = ${domainNumber} and ignored_at > now() - interval '30 days'
  order by ignored_at desc, field limit ${stored}`;

/** Any other name could itself contain personal data. */
const nameOfField = /^[A-Za-z0-9_.:-]{1,80}$/;

export const createIgnoredFieldLog = (parts: NotedParts) =>
  createFairNotes<IgnoredField>(parts, {
    write: noteIgnoredField,
    nameOf: ({ field }) => field,
    isAccepted: ({ field }) => nameOfField.test(field),
  });
