/** /v1/sign-in, /v1/sign-out: for the pages of the service, with a cookie that scripts cannot read. */
import type { Database, Sql } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { refuseFields } from '#libs/base/terms/field-errors';
import { issuePersonToken } from '#libs/tenants/person-tokens';
import type { TenantCache } from '#libs/tenants/tenant-cache';
import type { Attempts } from './attempts.ts';
import type { SignedIn } from './contract.ts';
import { invalidCredentials } from './handlers.ts';
import { findPerson, listOrganizationsOf, type OwnOrganization } from './people.ts';
import { signInRoutes as routes } from './routes.ts';
import {
  type Accounts,
  endSession,
  lastOrganization,
  openSession,
  requireAccounts,
  type SessionOwner,
  setLastOrganization,
  useSession,
} from './sessions.ts';

export interface SignInParts {
  db: Database;
  tenants: TenantCache;
  accounts: Accounts | undefined;
  attempts: Attempts;
}

export interface Opened {
  /** of the session */
  secret: string;
  organizations: OwnOrganization[];
  /** the one that the access token is for */
  chosen: OwnOrganization;
}

/**
 * Opens a session; by default in the organization used last. Throws a 401 if the person is gone or in no organization, or
 * their password was changed or switched off meanwhile.
 */
export async function open(sql: Sql, person: SessionOwner, organizationId?: string): Promise<Opened> {
  const organizations = await listOrganizationsOf(sql, person.number);
  const chosen = choose(organizations, organizationId ?? (await lastOrganization(sql, person.number)));
  const secret = chosen && (await openSession(sql, person, chosen.organizationId));
  if (!chosen || secret === undefined) throw wrongPassword();
  return { secret, organizations, chosen };
}

const choose = (list: OwnOrganization[], organizationId: string | null): OwnOrganization | undefined =>
  list.find((each) => each.organizationId === organizationId) ?? list[0];

/** The response's body. Sets the cookie. */
export function signInResponse(
  ctx: Context,
  { accounts }: SignInParts,
  { secret, organizations, chosen }: Opened,
): SignedIn {
  const {
    keys: [key],
    cookie,
  } = requireAccounts(accounts);
  cookie.set(ctx, secret);
  return {
    ...issuePersonToken(key, chosen),
    organizationId: chosen.organizationId,
    organizations: organizations.map(({ organizationId, name }) => ({ organizationId, name })),
  };
}

/** The same for an unknown address, a wrong password and a deleted person, so that nobody learns which. */
const wrongPassword = () => invalidCredentials('the address or the password is wrong');

export const signInWithPassword = (parts: SignInParts): Middleware =>
  guard(routes.signInWithPassword, async (ctx, { body }) => {
    const { db, attempts } = parts;
    const person = await attempts.password(ctx, body, async () => {
      const found = await db.read((sql) => findPerson(sql, body));
      return found?.passwordOff ? undefined : found;
    });
    if (!person) throw wrongPassword();
    ctx.body = signInResponse(ctx, parts, await db.transaction((sql) => open(sql, person)));
  });

const sessionEnded = () => invalidCredentials('the session has ended: sign in again');

export const renew = (parts: SignInParts): Middleware =>
  guard(routes.renew, async (ctx, { body: { organizationId } }) => {
    const { db, attempts, accounts } = parts;
    const secret = requireAccounts(accounts).cookie.read(ctx);
    if (secret === undefined) throw sessionEnded();
    const opened = await attempts.secret(ctx, 'session', () =>
      db.transaction(async (sql): Promise<Opened | undefined> => {
        const session = await useSession(sql, secret);
        const organizations = session ? await listOrganizationsOf(sql, session.personNumber) : [];
        const wanted = organizationId ?? session?.organizationId ?? null;
        const chosen = choose(organizations, wanted);
        if (!chosen) return undefined;
        if (organizationId !== undefined && chosen.organizationId !== organizationId)
          throw refuseFields([{ path: '/organizationId', message: 'must be an organization that you belong to' }]);
        await setLastOrganization(sql, secret, chosen.organizationId);
        return { secret, organizations, chosen };
      }),
    );
    if (!opened) throw sessionEnded();
    ctx.body = signInResponse(ctx, parts, opened);
  });

export const signOut = ({ db, accounts }: SignInParts): Middleware =>
  guard(routes.signOut, async (ctx, { body: { everywhere = false } }) => {
    const { cookie } = requireAccounts(accounts);
    const secret = cookie.read(ctx);
    const ended = secret === undefined ? 0 : await db.write((sql) => endSession(sql, secret, everywhere));
    cookie.clear(ctx);
    ctx.body = { ended };
  });
