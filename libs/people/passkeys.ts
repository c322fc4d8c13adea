/** Stored passkeys: a public key each. */
import type { Sql } from '#libs/base/db/database';
import { Problem } from '#libs/base/terms/problem';
import { problemOf, requireRoom } from '#libs/tenants/change-errors';
import { makeId } from '#libs/tenants/tenants';
import type { Credential } from './webauthn.ts';

/** per person */
const mostPasskeys = 20;

export interface Passkey extends Credential {
  number: number;
  passkeyId: string;
  personNumber: number;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

const columns = (sql: Sql) => sql`
  k.number, k.id as "passkeyId", k.person_number as "personNumber", k.name, k.credential_id as "credentialId",
  k.public_key as "publicKey", k.counter, to_json(k.transports) as transports, k.created_at as "createdAt",
  k.last_used_at as "lastUsedAt"`;

/** Newest first. */
export const listPasskeys = (sql: Sql, personNumber: number) => sql<Passkey[]>`
  select ${columns(sql)} from person_passkeys k where person_number = ${personNumber} order by k.number desc`;

/** `userHandle`: the person's, which the authenticator stores beside the passkey. */
export async function findPasskey(sql: Sql, credentialId: string, userHandle = ''): Promise<Passkey | undefined> {
  const [passkey] = await sql<Passkey[]>`
    select ${columns(sql)} from person_passkeys k join people p on p.number = k.person_number
    where k.credential_id = ${credentialId} and p.user_handle = ${userHandle}`;
  return passkey;
}

/** Throws a 409 where the person has as many as allowed. */
export async function requireRoomForPasskey(sql: Sql, personNumber: number): Promise<void> {
  const there = sql<{ there: number }[]>`
    select count(*)::int as there from person_passkeys where person_number = ${personNumber}`;
  await requireRoom(mostPasskeys, 'passkeys', there).catch((error: unknown) => {
    throw problemOf(error);
  });
}

/** Undefined if the credential is stored already, or the person is gone. */
export async function storePasskey(
  sql: Sql,
  personNumber: number,
  { name, credentialId, publicKey, counter, transports }: Credential & { name: string },
): Promise<Passkey | undefined> {
  const [added] = await sql<Passkey[]>`
    insert into person_passkeys as k (id, person_number, name, credential_id, public_key, counter, transports)
    select ${makeId('pky')}, number, ${name}, ${credentialId}, ${Buffer.from(publicKey)}, ${counter}, ${transports}
    from people where number = ${personNumber}
    on conflict do nothing returning ${columns(sql)}`;
  return added;
}

/** False if it has been removed. It cannot be removed until the transaction ends. */
export async function recordPasskeyUse(sql: Sql, number: number, counter: number): Promise<boolean> {
  const used = await sql`
    update person_passkeys
    set counter = greatest(counter, ${counter}), last_used_at = date_trunc('milliseconds', clock_timestamp())
    where number = ${number} returning number`;
  return used.length > 0;
}

/** Throws a 404 where the person has no such passkey. */
export async function deletePasskey(sql: Sql, personNumber: number, passkeyId: string): Promise<Passkey> {
  const [deleted] = await sql<Passkey[]>`
    delete from person_passkeys k where person_number = ${personNumber} and id = ${passkeyId} returning ${columns(sql)}`;
  if (!deleted) throw new Problem('key_not_found', 'you have no such passkey');
  return deleted;
}
