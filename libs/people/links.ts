/**
 * One-time links: the first set-up, an invitation, a new password. The secret is in the fragment, which browsers do not
 * send, and only its hash is stored.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Sql } from '#libs/base/db/database';
import { fromNow, hasPassed } from '#libs/base/db/postgres-time';
import type { Person } from './contract.ts';
import { getListedPerson, show } from './people.ts';

/** milliseconds */
const lifetime = { setup: 3_600_000, invitation: 7 * 86_400_000, reset: 86_400_000 };

const inviteUrl = (publicUrl: string, secret: string): string => `${publicUrl}/invitation#invite=${secret}`;
/** The same page, which asks only for a new password. */
export const resetUrl = (publicUrl: string, secret: string): string => `${publicUrl}/invitation#reset=${secret}`;
export const setupUrl = (publicUrl: string, secret: string): string => `${publicUrl}/setup#setup=${secret}`;

/** 256 random bits */
export const makeSecret = (): string => randomBytes(32).toString('base64url');
export const secretHash = (secret: string): Buffer => Buffer.from(hash('sha256', secret, 'hex'), 'hex');

/** An invitation has `memberNumber`, a password reset has `personNumber`, and the first set-up has neither. */
export interface Link {
  memberNumber: number | null;
  personNumber: number | null;
}

/** Replaces any earlier link for the same membership or person, or for the set-up. */
export async function makeLink(
  sql: Sql,
  { memberNumber = null, personNumber = null }: Partial<Link>,
): Promise<{ secret: string; expiresAt: Date }> {
  const secret = makeSecret();
  const kind = memberNumber !== null ? 'invitation' : personNumber !== null ? 'reset' : 'setup';
  await sql`
    delete from person_links
    where member_number is not distinct from ${memberNumber} and person_number is not distinct from ${personNumber}`;
  const [made] = await sql<{ expiresAt: Date }[]>`
    insert into person_links (hash, member_number, person_number, expires_at)
    values (${secretHash(secret)}, ${memberNumber}, ${personNumber}, ${fromNow(sql, lifetime[kind])})
    returning expires_at as "expiresAt"`;
  if (!made) throw new Error('a link was not made');
  return { secret, expiresAt: made.expiresAt };
}

/** Creates a link, and returns the invited person with it. */
export async function inviteTo(
  sql: Sql,
  publicUrl: string,
  memberNumber: number,
): Promise<Person & { inviteUrl: string }> {
  const { secret } = await makeLink(sql, { memberNumber });
  return { ...show(await getListedPerson(sql, memberNumber)), inviteUrl: inviteUrl(publicUrl, secret) };
}

const valid = (sql: Sql) => sql`not ${hasPassed(sql, sql`expires_at`, lifetime.invitation)}`;

export async function findLink(sql: Sql, secret: string): Promise<Link | undefined> {
  const [link] = await sql<Link[]>`
    select member_number as "memberNumber", person_number as "personNumber" from person_links
    where hash = ${secretHash(secret)} and ${valid(sql)}`;
  return link;
}

/** Deletes the link; undefined if it has expired or was used, even by a concurrent request. */
export async function useLink(sql: Sql, secret: string): Promise<Link | undefined> {
  const [link] = await sql<Link[]>`
    delete from person_links where hash = ${secretHash(secret)} and ${valid(sql)}
    returning member_number as "memberNumber", person_number as "personNumber"`;
  return link;
}
