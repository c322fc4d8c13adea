/** Creates the logins of the API and the worker from the addresses that they connect with. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type postgres from 'postgres';
import { isForbidden } from '../errors.ts';
import { isMember, join, quoted } from './roles.ts';

interface Login {
  name: string;
  password: string;
}

export const loginOf = (databaseUrl: string): Login => {
  const { username, password } = new URL(databaseUrl);
  return { name: decodeURIComponent(username), password: decodeURIComponent(password) };
};

/**
 * An existing login gets this password, unless it is a superuser, our own login, or one that a superuser made a member and
 * we may not change. Returns what was created, or why nothing was.
 */
export async function makeLogin(sql: postgres.Sql, group: string, { name, password }: Login): Promise<string[]> {
  const [role] = await sql<{ isSuper: boolean; isOurs: boolean }[]>`
    select rolsuper as "isSuper", rolname = current_user as "isOurs" from pg_roles where rolname = ${name}`;
  if (role?.isOurs) return [];
  if (role?.isSuper) return [`the login ${name} is a superuser: it was left as it is`];
  const verb = role ? 'alter' : 'create';
  try {
    await sql.unsafe(`${verb} role ${quoted(name)} login password '${verifierOf(password)}'`);
  } catch (error) {
    if (role && isForbidden(error) && (await isMember(sql, group, name))) return [];
    throw error;
  }
  await join(sql, group, name);
  return role ? [] : [`made the login ${name}, a member of ${group}`];
}

/** The SCRAM-SHA-256 verifier that Postgres stores (RFC 5803). The password itself would appear in the log of Postgres. */
function verifierOf(password: string): string {
  const iterations = 4_096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${hmac('Server Key').toString('base64')}`;
}
