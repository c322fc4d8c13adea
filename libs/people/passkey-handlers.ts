/** Passkeys: signing in with one, and /v1/people/me/passkeys. */
import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { refuseFields } from '#libs/base/terms/field-errors';
import { createPerform } from '#libs/tenants/audited-change';
import { accessIn } from '#libs/tenants/bearer';
import { endpoint } from '#libs/tenants/endpoint';
import { useChallenge } from './challenges.ts';
import type { Passkey as Shown } from './contract.ts';
import { findMe, invalidCredentials } from './handlers.ts';
import {
  deletePasskey,
  findPasskey,
  listPasskeys,
  type Passkey,
  recordPasskeyUse,
  requireRoomForPasskey,
  storePasskey,
} from './passkeys.ts';
import { changePerson, lockPerson } from './people.ts';
import { peopleRoutes as routes, signInRoutes } from './routes.ts';
import { type Accounts, endSessionsOf, freshFor, isFresh, requireAccounts, requireOwnPage } from './sessions.ts';
import { open, type SignInParts, signInResponse } from './sign-in.ts';
import { checkRegistration, checkSignIn, registrationOptions, signInOptions } from './webauthn.ts';

interface Parts {
  db: Database;
  accounts: Accounts | undefined;
}

const show = ({ passkeyId, name, createdAt, lastUsedAt }: Passkey): Shown => ({
  passkeyId,
  name,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});

export const getPasskeys = endpoint(routes.getPasskeys, async ({ db }: Parts, { access }) => {
  const { number } = await findMe(db, access.personId);
  return { body: { passkeys: (await db.read((sql) => listPasskeys(sql, number))).map(show) } };
});

export const createPasskeyOptions = ({ db, accounts }: Parts): Middleware =>
  guard(routes.createPasskeyOptions, async (ctx) => {
    const own = requireOwnPage(ctx, accounts);
    const person = await findMe(db, accessIn(ctx).personId);
    const session = own.cookie.read(ctx);
    const known = await db.read(async (sql) => {
      if (session === undefined || !(await isFresh(sql, person.number, session)))
        throw invalidCredentials(`sign in again first: a passkey is added within ${freshFor} minutes of a sign-in`);
      await requireRoomForPasskey(sql, person.number);
      return listPasskeys(sql, person.number);
    });
    ctx.body = await registrationOptions(own, person, known);
  });

export const addPasskey = ({ db, accounts }: Parts): Middleware =>
  guard(routes.addPasskey, async (ctx, { body: { name = 'Passkey', credential } }) => {
    const own = requireOwnPage(ctx, accounts);
    const { subject, personId = '', organizationId } = accessIn(ctx);
    const person = await findMe(db, personId);
    const checked = await checkRegistration(own, person, credential);
    if (!checked) throw notAccepted();
    const perform = createPerform(db, subject);
    const added = await perform(async (sql, note) => {
      await lockPerson(sql, person.number);
      await requireRoomForPasskey(sql, person.number);
      if (!(await useChallenge(sql, checked.nonce))) throw notAccepted();
      const stored = await storePasskey(sql, person.number, { name, ...checked.proven });
      if (!stored) throw notAccepted();
      await note({ act: 'passkey.create', subject: personId, organizationId, details: { name } });
      return stored;
    });
    ctx.status = 201;
    ctx.body = show(added);
  });

const notAccepted = () =>
  refuseFields([
    {
      path: '/credential',
      message: 'is not a new passkey for this site, with user verification, within 2 minutes; try again',
    },
  ]);

export const removePasskey = ({ db, accounts }: Parts): Middleware =>
  guard(routes.removePasskey, async (ctx, { params: { passkeyId } }) => {
    const { cookie } = requireOwnPage(ctx, accounts);
    const { subject, personId = '', organizationId } = accessIn(ctx);
    const { number } = await findMe(db, personId);
    const perform = createPerform(db, subject);
    const removed = await perform(async (sql, note) => {
      await lockPerson(sql, number);
      const deleted = await deletePasskey(sql, number, passkeyId);
      // the last passkey is gone: unless the password works again, the person could not sign in
      if ((await listPasskeys(sql, number)).length === 0) await changePerson(sql, number, { passwordOff: false });
      await endSessionsOf(sql, number, cookie.read(ctx));
      await note({ act: 'passkey.delete', subject: personId, organizationId, details: { name: deleted.name } });
      return deleted;
    });
    ctx.body = show(removed);
  });

export const createPasskeySignIn = ({ accounts }: SignInParts): Middleware =>
  guard({}, async (ctx) => {
    ctx.body = await signInOptions(requireAccounts(accounts));
  });

export const signInWithPasskey = (parts: SignInParts): Middleware =>
  guard(signInRoutes.signInWithPasskey, async (ctx, { body: { credential } }) => {
    const { db, attempts } = parts;
    const accounts = requireAccounts(parts.accounts);
    const opened = await attempts.passkey(ctx, async () => {
      const { id: credentialId, response } = credential;
      const passkey = await db.read((sql) => findPasskey(sql, credentialId, response.userHandle));
      const checked = passkey && (await checkSignIn(accounts, passkey, credential));
      if (!checked) return undefined;
      const { number, personNumber } = passkey;
      return db.transaction(async (sql) => {
        await lockPerson(sql, personNumber);
        const isValid =
          (await useChallenge(sql, checked.nonce)) && (await recordPasskeyUse(sql, number, checked.proven));
        return isValid ? open(sql, { number: personNumber }) : undefined;
      });
    });
    if (!opened)
      throw invalidCredentials('this passkey is not known here, or the sign-in took longer than 2 minutes; try again');
    ctx.body = signInResponse(ctx, parts, opened);
  });
