/** The passkeys of a person: their public keys. */
import type { Sql } from '#libs/base/db/database';
import { Problem } from '#libs/base/terms/problem';
import { problemOf, requireRoom } from '#libs/tenants/refused-changes';
import { makeId } from '#libs/tenants/tenants';
import type { Credential } from './webauthn.ts';

/** of a person */
const mostPasskeys = 20;

interface Passkey {
  passkeyId: string;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export interface KnownPasskey extends Passkey, Credential {
  number: number;
  personNumber: number;
}

const columns = (sql: Sql) => sql`
  k.number, k.id as "passkeyId", k.person_number as "personNumber", k.name, k.credential_id as "credentialId",
  k.public_key as "publicKey", k.counter, to_json(k.transports) as transports, k.created_at as "createdAt",
  k.last_used_at as "lastUsedAt"`;

/** Newest first. */
export const listPasskeys = (sql: Sql, personNumber: number) => sql<KnownPasskey[]>`
  select ${columns(sql)} from person_passkeys k where person_number = ${personNumber} order by k.number desc`;

/** Of the person whose handle the authenticator has stored with it. */
export async function findPasskey(sql: Sql, credentialId: string, userHandle = ''): Promise<KnownPasskey | undefined> {
  const [passkey] = await sql<KnownPasskey[]>`
    select ${columns(sql)} from person_passkeys k join people p on p.number = k.person_number
    where k.credential_id = ${credentialId} and p.user_handle = ${userHandle}`;
  return passkey;
}

/** Throws a 409 where there is no room for another one. */
export async function requireRoomForPasskey(sql: Sql, personNumber: number): Promise<void> {
  const there = sql<{ there: number }[]>`
    select count(*)::int as there from person_passkeys where person_number = ${personNumber}`;
  await requireRoom(mostPasskeys, 'passkeys', there).catch((error: unknown) => {
    throw problemOf(error);
  });
}

/** Undefined if somebody has it already, or the person is gone. */
export async function storePasskey(
  sql: Sql,
  personNumber: number,
  { name, credentialId, publicKey, counter, transports }: Credential & { name: string },
): Promise<KnownPasskey | undefined> {
  const [added] = await sql<KnownPasskey[]>`
    insert into person_passkeys as k (id, person_number, name, credential_id, public_key, counter, transports)
    select ${makeId('pky')}, number, ${name}, ${credentialId}, ${Buffer.from(publicKey)}, ${counter}, ${transports}
    from people where number = ${personNumber}
    on conflict do nothing returning ${columns(sql)}`;
  return added;
}

/** Whether it is still there: until the transaction ends, nobody else removes it. */
export async function notePasskeyUse(sql: Sql, number: number, counter: number): Promise<boolean> {
  const used = await sql`
    update person_passkeys
    set counter = greatest(counter, ${counter}), last_used_at = date_trunc('milliseconds', clock_timestamp())
    where number = ${number} returning number`;
  return used.length > 0;
}

/** Throws a 404 where the person has no such passkey. */
export async function deletePasskey(sql: Sql, personNumber: number, passkeyId: string): Promise<KnownPasskey> {
  const [gone] = await sql<KnownPasskey[]>`
    delete from person_passkeys k where person_number = ${personNumber} and id = ${passkeyId} returning ${columns(sql)}`;
  if (!gone) throw new Problem('key_not_found', 'you have no such passkey');
  return gone;
}
