/** People's rights in an organization. Who they are, and how they sign in, is in the room `people`. */
import type { Sql } from '#libs/base/db/database';
import { Problem } from '#libs/base/terms/problem';
import type { Scope } from '#libs/base/terms/terms';
import type { Perform } from './audited-change.ts';
import { Refused, requireRoom } from './change-errors.ts';
import { makeId } from './tenants.ts';

/** people of an organization, including pending ones */
export const mostPeople = 500;

export interface Membership {
  number: number;
  personId: string;
  organizationId: string;
  /** null while pending */
  personNumber: number | null;
  /** as invited; null once accepted */
  email: string | null;
  scopes: Scope[];
  createdAt: Date;
}

const columns = (sql: Sql) => sql`
  number, id as "personId", organization_id as "organizationId", person_number as "personNumber", email,
  to_json(scopes) as scopes, created_at as "createdAt"`;

export const personNotFound = () => new Problem('person_not_found', 'your organization has no such person');

/** Throws if somebody grants a scope that they do not hold. `held`: undefined for an operator, who may grant all. */
export function requireHeld(held: readonly Scope[] | undefined, given: readonly Scope[]): void {
  const lacked = given.filter((scope) => held?.includes(scope) === false);
  if (lacked.length === 0) return;
  throw new Problem('insufficient_scope', `you cannot give a scope that you do not have: ${lacked.join(', ')}`, {
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${lacked.join(' ')}"` },
  });
}

/** Makes the second of two concurrent changes to an organization's people see the first. */
async function lockOrganization(sql: Sql, organizationId: string): Promise<void> {
  const [organization] = await sql`select from organizations where id = ${organizationId} for no key update`;
  if (!organization) throw new Refused(`no organization ${organizationId}`);
}

/** Throws a 404 if the organization has no such person. Its people are locked until the transaction ends. */
export async function lockMembership(sql: Sql, organizationId: string, personId: string): Promise<Membership> {
  await lockOrganization(sql, organizationId);
  const [found] = await sql<Membership[]>`
    select ${columns(sql)} from organization_people where organization_id = ${organizationId} and id = ${personId}`;
  if (!found) throw personNotFound();
  return found;
}

/** Throws if nobody else has `manage`, which this member is about to lose. */
async function requireOtherManager(sql: Sql, { number, organizationId, personNumber, scopes }: Membership) {
  if (personNumber === null || !scopes.includes('manage')) return;
  const others = await sql`
    select from organization_people
    where organization_id = ${organizationId} and person_number is not null and number <> ${number}
      and 'manage' = any(scopes)
    limit 1`;
  if (others.length === 0)
    throw new Problem(
      'last_manager',
      'nobody else in the organization has the scope manage; give it to somebody first',
    );
}

export const peopleChanges = (perform: Perform) => ({
  /** `who`: a person, or the address of an invited one. Throws a 409 if they are a member already. */
  addPerson: (
    organizationId: string,
    who: { email: string; personNumber?: number | undefined },
    { scopes, personId = makeId('per') }: { scopes: Scope[]; personId?: string },
  ): Promise<Membership> =>
    perform(async (sql, note) => {
      await lockOrganization(sql, organizationId);
      const there = sql<{ there: number }[]>`
        select count(*)::int as there from organization_people where organization_id = ${organizationId}`;
      await requireRoom(mostPeople, 'people', there);
      const { email, personNumber = null } = who;
      const [added] = await sql<Membership[]>`
        insert into organization_people (id, organization_id, person_number, email, scopes)
        values (${personId}, ${organizationId}, ${personNumber}, ${personNumber === null ? email : null}, ${scopes})
        on conflict do nothing returning ${columns(sql)}`;
      if (!added) throw emailTaken('the organization has, or has invited, somebody with this address');
      await note({ act: 'person.create', subject: personId, organizationId, details: { email, scopes } });
      return added;
    }),

  /** `held`: the scopes that may be granted; any may be taken away. */
  setScopes: (
    organizationId: string,
    personId: string,
    scopes: Scope[],
    held?: readonly Scope[],
  ): Promise<Membership> =>
    perform(async (sql, note) => {
      const before = await lockMembership(sql, organizationId, personId);
      requireHeld(
        held,
        scopes.filter((scope) => !before.scopes.includes(scope)),
      );
      if (!scopes.includes('manage')) await requireOtherManager(sql, before);
      await sql`update organization_people set scopes = ${scopes} where number = ${before.number}`;
      await note({ act: 'person.update', subject: personId, organizationId, details: { scopes } });
      return { ...before, scopes };
    }),

  /** Ends the rights in this organization alone. */
  removePerson: (organizationId: string, personId: string): Promise<Membership> =>
    perform(async (sql, note) => {
      const before = await lockMembership(sql, organizationId, personId);
      await requireOtherManager(sql, before);
      await sql`delete from organization_people where number = ${before.number}`;
      await note({ act: 'person.delete', subject: personId, organizationId });
      return before;
    }),

  /** Gives the rights of an invitation to this person. Throws a 409 if the person is a member already. */
  acceptAs: (number: number, personNumber: number): Promise<Membership> =>
    perform(async (sql, note) => {
      const [there] = await sql`
        select from organization_people
        where person_number = ${personNumber}
          and organization_id = (select organization_id from organization_people where number = ${number})`;
      if (there) throw emailTaken('you belong to this organization already');
      const [accepted] = await sql<Membership[]>`
        update organization_people set person_number = ${personNumber}, email = null
        where number = ${number} and person_number is null returning ${columns(sql)}`;
      if (!accepted) throw new Error('the invitation was accepted meanwhile');
      const { personId, organizationId } = accepted;
      await note({ act: 'person.join', subject: personId, organizationId });
      return accepted;
    }),
});

export const emailTaken = (detail: string) => new Problem('email_taken', detail);
