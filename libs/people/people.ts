/** People, their passwords, and the organizations that they belong to. */
import type { Sql } from '#libs/base/db/database';
import { type Perform, partOf } from '#libs/tenants/audited-change';
import { afterAllTokens } from '#libs/tenants/deletion';
import { emailTaken, lockMembership, peopleChanges } from '#libs/tenants/organization-people';
import type { Person as Shown } from './contract.ts';

export interface Person {
  number: number;
  email: string;
  name: string;
  password: string;
  /** the password does not sign in */
  passwordOff: boolean;
  /** identifies the person to authenticators; base64url */
  userHandle: string;
  createdAt: Date;
}

const columns = (sql: Sql) => sql`
  number, email, name, password, password_off as "passwordOff", user_handle as "userHandle", created_at as "createdAt"`;

/** `personId`: the id in an organization, as access tokens have it. */
export async function findPerson(
  sql: Sql,
  by: { email: string } | { number: number } | { personId: string },
): Promise<Person | undefined> {
  const which =
    'email' in by
      ? sql`email = ${by.email}`
      : 'number' in by
        ? sql`number = ${by.number}`
        : sql`number = (select person_number from organization_people where id = ${by.personId})`;
  const [person] = await sql<Person[]>`select ${columns(sql)} from people where ${which}`;
  return person;
}

/** A pending invitation. */
export async function findInvitation(
  sql: Sql,
  number: number,
): Promise<{ personId: string; email: string } | undefined> {
  const [found] = await sql<{ personId: string; email: string }[]>`
    select id as "personId", email from organization_people where number = ${number} and email is not null`;
  return found;
}

export async function hasAnyPerson(sql: Sql): Promise<boolean> {
  return (await sql`select from people limit 1`).length > 0;
}

export const accountExists = () => emailTaken('there is an account with this address: sign in first');

/** Throws a 409 where the address is taken. */
export async function createPerson(
  sql: Sql,
  { email, name, password }: { email: string; name: string; password: string },
): Promise<number> {
  const [made] = await sql<{ number: number }[]>`
    insert into people (email, name, password) values (${email}, ${name}, ${password})
    on conflict (email) do nothing returning number`;
  if (!made) throw accountExists();
  return made.number;
}

/** Fields that are undefined stay as they are. */
export const changePerson = (
  sql: Sql,
  number: number,
  changed: { name?: string | undefined; password?: string | undefined; passwordOff?: boolean | undefined },
) => sql`
  update people
  set name = coalesce(${changed.name ?? null}, name), password = coalesce(${changed.password ?? null}, password),
    password_off = coalesce(${changed.passwordOff ?? null}, password_off)
  where number = ${number}`;

/** Concurrent changes of the same person wait for each other. */
export const lockPerson = (sql: Sql, number: number) => sql`
  select from people where number = ${number} for no key update`;

/** Deletes a person who no longer belongs to any organization. */
async function deleteIfInNoOrganization(sql: Sql, number: number): Promise<void> {
  // a concurrent grant of rights waits for this lock, or is visible to the next statement
  await sql`select from people where number = ${number} for update`;
  await sql`
    delete from people p
    where number = ${number} and not exists (select from organization_people where person_number = p.number)`;
}

export interface OwnOrganization {
  organizationId: string;
  name: string;
  personId: string;
}

/** Sorted by name, without those that are being deleted. */
export const listOrganizationsOf = (sql: Sql, number: number) => sql<OwnOrganization[]>`
  select o.id as "organizationId", o.name, m.id as "personId"
  from organization_people m join organizations o on o.id = m.organization_id
  where m.person_number = ${number} and o.tokens_since is distinct from ${afterAllTokens}::timestamptz
  order by o.name, o.id`;

export interface ListedPerson extends Omit<Shown, 'createdAt' | 'lastSeenAt'> {
  number: number;
  createdAt: Date;
  lastSeenAt: Date | null;
}

const listedColumns = (sql: Sql) => sql`
  m.number, m.id as "personId", coalesce(p.email, m.email) as email, p.name, to_json(m.scopes) as scopes,
  m.created_at as "createdAt", p.last_seen_at as "lastSeenAt",
  (select count(*)::int from person_passkeys k where k.person_number = m.person_number) as passkeys,
  m.person_number is null as pending`;

/** Newest first, with pending invitations. */
export const listPeople = (
  sql: Sql,
  { organizationId, limit, after }: { organizationId: string; limit: number; after?: number | undefined },
) => sql<ListedPerson[]>`
  select ${listedColumns(sql)}
  from organization_people m left join people p on p.number = m.person_number
  where m.organization_id = ${organizationId} ${after === undefined ? sql`` : sql`and m.number < ${after}`}
  order by m.number desc limit ${limit}`;

export const show = ({ number: _, ...person }: ListedPerson): Shown => ({
  ...person,
  createdAt: person.createdAt.toISOString(),
  lastSeenAt: person.lastSeenAt?.toISOString() ?? null,
});

export async function getListedPerson(sql: Sql, membershipNumber: number): Promise<ListedPerson> {
  const [person] = await sql<ListedPerson[]>`
    select ${listedColumns(sql)}
    from organization_people m left join people p on p.number = m.person_number where m.number = ${membershipNumber}`;
  if (!person) throw new Error('the person is gone within the transaction that changes them');
  return person;
}

/** Also finds pending invitations. */
export async function personIdOf(sql: Sql, organizationId: string, email: string): Promise<string | undefined> {
  const [found] = await sql<{ personId: string }[]>`
    select m.id as "personId" from organization_people m left join people p on p.number = m.person_number
    where m.organization_id = ${organizationId} and coalesce(p.email, m.email) = ${email}`;
  return found?.personId;
}

/** Ends the rights in an organization, and deletes a person who belongs to no other. Resolves to the person as they were. */
export const removeFrom = (perform: Perform, organizationId: string, personId: string): Promise<ListedPerson> =>
  perform(async (sql, note) => {
    const { number, personNumber } = await lockMembership(sql, organizationId, personId);
    const before = await getListedPerson(sql, number);
    await peopleChanges(partOf(sql, note)).removePerson(organizationId, personId);
    if (personNumber !== null) await deleteIfInNoOrganization(sql, personNumber);
    return before;
  });
