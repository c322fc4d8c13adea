/** Logins of API and worker, made from the addresses that these connect with. */
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
 * A login that is there gets this password, unless it is a superuser or our own, or a superuser made it a member, whom we
 * may not change. Returns what was made, or why nothing.
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

/** What Postgres keeps of a password (SCRAM-SHA-256, RFC 5803): the password itself would stand in its log. */
function verifierOf(password: string): string {
  const iterations = 4_096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${hmac('Server Key').toString('base64')}`;
}
