/**
 * Links that work once: the first set-up, an invitation, a new password. Their secret is in the fragment, which browsers
 * send nowhere, and only its hash is stored.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Sql } from '#libs/base/db/database';
import { isReached } from '#libs/base/db/due';

/** milliseconds */
const lifetime = { setup: 3_600_000, invitation: 7 * 86_400_000, reset: 86_400_000 };

export const inviteUrl = (publicUrl: string, secret: string): string => `${publicUrl}/invitation#invite=${secret}`;
/** The same page: only a new password is asked for. */
export const resetUrl = (publicUrl: string, secret: string): string => `${publicUrl}/invitation#reset=${secret}`;
export const setupUrl = (publicUrl: string, secret: string): string => `${publicUrl}/setup#setup=${secret}`;

/** 256 random bits, of which the hash is stored. */
export const makeSecret = (): string => randomBytes(32).toString('base64url');
export const secretHash = (secret: string): Buffer => Buffer.from(hash('sha256', secret, 'hex'), 'hex');

/** For whom or what: a pending membership, a person, or nobody yet. */
export type LinkFor = { member: number } | { person: number } | 'nobody';

export interface Link {
  memberNumber: number | null;
  personNumber: number | null;
}

/** A link for the same ends the one before. Returns its secret. */
export async function makeLink(sql: Sql, whom: LinkFor): Promise<{ secret: string; expiresAt: Date }> {
  const secret = makeSecret();
  const [member, person] =
    whom === 'nobody' ? [null, null] : 'member' in whom ? [whom.member, null] : [null, whom.person];
  const validFor = whom === 'nobody' ? lifetime.setup : 'member' in whom ? lifetime.invitation : lifetime.reset;
  await sql`
    delete from person_links
    where member_number is not distinct from ${member} and person_number is not distinct from ${person}`;
  const [made] = await sql<{ expiresAt: Date }[]>`
    insert into person_links (hash, member_number, person_number, expires_at)
    values (${secretHash(secret)}, ${member}, ${person}, statement_timestamp() + ${validFor} * interval '1 ms')
    returning expires_at as "expiresAt"`;
  if (!made) throw new Error('a link was not made');
  return { secret, expiresAt: made.expiresAt };
}

const valid = (sql: Sql) => sql`not ${isReached(sql, sql`expires_at`, lifetime.invitation)}`;

export async function findLink(sql: Sql, secret: string): Promise<Link | undefined> {
  const [link] = await sql<Link[]>`
    select member_number as "memberNumber", person_number as "personNumber" from person_links
    where hash = ${secretHash(secret)} and ${valid(sql)}`;
  return link;
}

/** Of two that use it at once, the second gets undefined. */
export async function useLink(sql: Sql, secret: string): Promise<Link | undefined> {
  const [link] = await sql<Link[]>`
    delete from person_links where hash = ${secretHash(secret)} and ${valid(sql)}
    returning member_number as "memberNumber", person_number as "personNumber"`;
  return link;
}
