/** Sessions: a secret in a cookie that scripts cannot read. Pages exchange it for access tokens of five minutes. */
import type { KeyObject } from 'node:crypto';
import type { Sql } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { notConfigured, Problem } from '#libs/base/terms/problem';
import { makeSecret, secretHash } from './links.ts';

/** per person; the oldest one ends */
const mostSessions = 20;
/** lifetime in days: without use, and in all */
const [unusedFor, inAll] = [30, 90];
/** passkeys can be added for this many minutes after a sign-in */
export const freshFor = 10;

export interface Session {
  personNumber: number;
  /** used last */
  organizationId: string | null;
}

const valid = (sql: Sql) => sql`
  used_at > statement_timestamp() - ${unusedFor} * interval '1 day'
  and created_at > statement_timestamp() - ${inAll} * interval '1 day'`;

export interface SessionOwner {
  number: number;
  /** the stored hash that was checked, if any; no session opens if it has changed, or been switched off, since */
  password?: string;
}

/** Returns the secret; undefined if the password has changed meanwhile, or the person has been deleted. */
export async function openSession(
  sql: Sql,
  { number: personNumber, password }: SessionOwner,
  organizationId: string,
): Promise<string | undefined> {
  const [seen] = await sql`
    update people set last_seen_at = date_trunc('milliseconds', clock_timestamp())
    where number = ${personNumber}
      ${password === undefined ? sql`` : sql`and password = ${password} and not password_off`}
    returning number`;
  if (!seen) return undefined;
  const secret = makeSecret();
  await sql`
    insert into person_sessions (hash, person_number, last_organization)
    values (${secretHash(secret)}, ${personNumber}, ${organizationId})`;
  await sql`
    delete from person_sessions
    where person_number = ${personNumber} and (not (${valid(sql)}) or hash not in (
      select hash from person_sessions where person_number = ${personNumber}
      order by created_at desc limit ${mostSessions}
    ))`;
  return secret;
}

/** Undefined if it has ended. It cannot end until the transaction does. */
export async function useSession(sql: Sql, secret: string): Promise<Session | undefined> {
  const hash = secretHash(secret);
  // locks the person before the session, as the transactions that end all of a person's sessions do
  await sql`
    update people set last_seen_at = date_trunc('milliseconds', clock_timestamp())
    where number = (select person_number from person_sessions where hash = ${hash} and ${valid(sql)})`;
  const [session] = await sql<Session[]>`
    update person_sessions set used_at = clock_timestamp() where hash = ${hash} and ${valid(sql)}
    returning person_number as "personNumber", last_organization as "organizationId"`;
  return session;
}

/** Whether the session is this person's and began within the last `freshFor` minutes. */
export async function isFresh(sql: Sql, personNumber: number, secret: string): Promise<boolean> {
  const fresh = await sql`
    select from person_sessions
    where hash = ${secretHash(secret)} and person_number = ${personNumber} and ${valid(sql)}
      and created_at > statement_timestamp() - ${freshFor} * interval '1 minute'`;
  return fresh.length > 0;
}

/** The one used last, in any session of the person. */
export async function lastOrganization(sql: Sql, personNumber: number): Promise<string | null> {
  const [last] = await sql<{ organizationId: string | null }[]>`
    select last_organization as "organizationId" from person_sessions
    where person_number = ${personNumber} order by used_at desc limit 1`;
  return last?.organizationId ?? null;
}

export const setLastOrganization = (sql: Sql, secret: string, organizationId: string) => sql`
  update person_sessions set last_organization = ${organizationId} where hash = ${secretHash(secret)}`;

/** `everywhere`: all of the person's. Returns how many ended. */
export async function endSession(sql: Sql, secret: string, everywhere: boolean): Promise<number> {
  const hash = secretHash(secret);
  const { count } = await sql`
    delete from person_sessions
    where ${everywhere ? sql`person_number = (select person_number from person_sessions where hash = ${hash})` : sql`hash = ${hash}`}`;
  return count;
}

/** All of a person's except the one with the secret `but`. */
export const endSessionsOf = (sql: Sql, personNumber: number, but?: string) => sql`
  delete from person_sessions
  where person_number = ${personNumber} ${but === undefined ? sql`` : sql`and hash <> ${secretHash(but)}`}`;

/** Those of everybody in an organization. Returns how many ended. */
export async function endSessionsIn(sql: Sql, organizationId: string): Promise<number> {
  const { count } = await sql`
    delete from person_sessions where person_number in (
      select person_number from organization_people where organization_id = ${organizationId}
    )`;
  return count;
}

/** `publicUrl`: without a slash at its end */
function createCookie(publicUrl: string) {
  const { protocol, pathname, port } = new URL(publicUrl);
  const isSafe = protocol === 'https:';
  const safeName = pathname === '/' ? '__Host-assent' : '__Secure-assent';
  // cookies of one host do not differ by port
  const name = isSafe ? safeName : `assent_${port || '80'}`;
  const rest = `; Path=${pathname}; HttpOnly; SameSite=Strict${isSafe ? '; Secure' : ''}`;
  const send = (ctx: Context, value: string, maxAge: number) =>
    ctx.append('Set-Cookie', `${name}=${value}; Max-Age=${maxAge}${rest}`);
  return {
    read: (ctx: Context) => ctx.cookies.get(name),
    set: (ctx: Context, secret: string) => send(ctx, secret, unusedFor * 86_400),
    clear: (ctx: Context) => send(ctx, '', 0),
  };
}

/** The settings that accounts need. */
export interface Accounts {
  publicUrl: string;
  /** for access tokens and challenges; the first one signs */
  keys: [KeyObject, ...KeyObject[]];
  cookie: ReturnType<typeof createCookie>;
}

/** Undefined if the installation has no accounts. */
export function createAccounts(config: {
  publicUrl: string | undefined;
  tokens: { personKeys: KeyObject[] };
}): Accounts | undefined {
  const { publicUrl } = config;
  const [key, ...previous] = config.tokens.personKeys;
  return publicUrl && key ? { publicUrl, keys: [key, ...previous], cookie: createCookie(publicUrl) } : undefined;
}

export function requireAccounts(accounts: Accounts | undefined): Accounts {
  if (accounts) return accounts;
  throw notConfigured('this installation has no accounts: they need the settings SECRETS_KEY and PUBLIC_URL');
}

/** Throws a 403 for requests of other origins. Browsers set the header, and pages cannot change it. */
export function requireOwnPage(ctx: Context, accounts: Accounts | undefined): Accounts {
  const required = requireAccounts(accounts);
  if (ctx.get('origin') === new URL(required.publicUrl).origin) return required;
  throw new Problem('origin_not_allowed', `only pages of this service may do that: open ${required.publicUrl}/`);
}

export const fromOwnPages =
  ({ accounts }: { accounts: Accounts | undefined }): Middleware =>
  (ctx, next) => {
    requireOwnPage(ctx, accounts);
    return next();
  };
