/** /v1/organization/people: who may do what; and /v1/people/me: the person that the access token was issued to. */
import type { Database } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { listOf } from '#libs/base/http/list';
import { refuseFields } from '#libs/base/terms/field-errors';
import { Problem } from '#libs/base/terms/problem';
import { createPerform, partOf } from '#libs/tenants/audited-change';
import { accessIn } from '#libs/tenants/bearer';
import { endpoint } from '#libs/tenants/endpoint';
import { emailTaken, lockMembership, peopleChanges, requireHeld } from '#libs/tenants/organization-people';
import type { Attempts } from './attempts.ts';
import type { Me } from './contract.ts';
import { inviteTo } from './links.ts';
import { listPasskeys } from './passkeys.ts';
import {
  changePerson as change,
  findPerson,
  getListedPerson,
  listPeople,
  lockPerson,
  type Person,
  personIdOf,
  removeFrom,
  show,
} from './people.ts';
import { peopleRoutes as routes } from './routes.ts';
import { type Accounts, endSessionsOf, requireAccounts, requireOwnPage } from './sessions.ts';

interface Parts {
  db: Database;
  accounts: Accounts | undefined;
  attempts: Attempts;
}

export const getPeople = endpoint(routes.getPeople, async ({ db }: Parts, { organization, query }) => {
  const { organizationId, cursorKey } = organization;
  const list = listOf('person', query, { cursorKey, domainId: '' });
  const { page, nextCursor } = await list((range) => db.read((sql) => listPeople(sql, { organizationId, ...range })));
  return { body: { people: page.map(show), nextCursor } };
});

export const invitePerson = endpoint(
  routes.invitePerson,
  async ({ accounts }: Parts, { organization, access, body, once }) => {
    const { organizationId } = organization;
    const { email, scopes } = body;
    const { publicUrl } = requireAccounts(accounts);
    requireHeld(access.scopes, scopes);
    return once('encrypted', (perform) =>
      perform(async (sql, note) => {
        if (await personIdOf(sql, organizationId, email))
          throw emailTaken('the organization has, or has invited, somebody with this address');
        const { number } = await peopleChanges(partOf(sql, note)).addPerson(organizationId, { email }, { scopes });
        return { status: 201, body: await inviteTo(sql, publicUrl, number) };
      }),
    );
  },
);

export const inviteAgain = endpoint(
  routes.inviteAgain,
  async ({ accounts }: Parts, { organization, access, params, once }) => {
    const { organizationId } = organization;
    const { personId } = params;
    const { publicUrl } = requireAccounts(accounts);
    return once('encrypted', (perform) =>
      perform(async (sql, note) => {
        const { number, personNumber, scopes } = await lockMembership(sql, organizationId, personId);
        if (personNumber !== null) throw new Problem('not_pending', 'the person has accepted the invitation');
        // the link grants these scopes
        requireHeld(access.scopes, scopes);
        await note({ act: 'person.invite', subject: personId, organizationId });
        return { status: 201, body: await inviteTo(sql, publicUrl, number) };
      }),
    );
  },
);

export const changePerson = endpoint(
  routes.changePerson,
  async ({ db }: Parts, { organization, access, actor, params, body }) => {
    const perform = createPerform(db, actor);
    const { organizationId } = organization;
    const changed = await perform(async (sql, note) => {
      const changes = peopleChanges(partOf(sql, note));
      const { number } = await changes.setScopes(organizationId, params.personId, body.scopes, access.scopes);
      return getListedPerson(sql, number);
    });
    return { body: show(changed) };
  },
);

export const removePerson = endpoint(routes.removePerson, async ({ db }: Parts, { organization, actor, params }) => ({
  body: show(await removeFrom(createPerform(db, actor), organization.organizationId, params.personId)),
}));

/** The person that the access token was issued to. Throws a 404 for any other token. */
export async function findMe(db: Database, personId: string | undefined): Promise<Person> {
  const person = personId === undefined ? undefined : await db.read((sql) => findPerson(sql, { personId }));
  if (!person) throw new Problem('person_not_found', 'the access token was not issued to a person of this service');
  return person;
}

const showMe = ({ email, name, passwordOff, createdAt }: Person): Me => ({
  email,
  name,
  passwordOff,
  createdAt: createdAt.toISOString(),
});

export const getMe = endpoint(routes.getMe, async ({ db }: Parts, { access }) => ({
  body: showMe(await findMe(db, access.personId)),
}));

export const changeMe = ({ db, attempts, accounts }: Parts): Middleware => {
  const replaced = async (ctx: Context, person: Person, oldPassword: string, password: string): Promise<string> => {
    const { email, name } = person;
    const isRight = await attempts.password(ctx, { email, password: oldPassword }, async () => person);
    if (!isRight) throw invalidCredentials('the old password is wrong');
    return attempts.newPassword(ctx, password, [email, name]);
  };
  return guard(routes.changeMe, async (ctx, { body }) => {
    const { cookie } = requireOwnPage(ctx, accounts);
    const person = await findMe(db, accessIn(ctx).personId);
    const { number } = person;
    const { name = person.name, password, oldPassword = '', passwordOff = person.passwordOff } = body;
    const stored = password && (await replaced(ctx, { ...person, name }, oldPassword, password));
    await db.transaction(async (sql) => {
      await lockPerson(sql, number);
      if (body.passwordOff && (await listPasskeys(sql, number)).length === 0)
        throw refuseFields([{ path: '/passwordOff', message: 'needs a passkey: add one first' }]);
      await change(sql, number, { name, password: stored, passwordOff: body.passwordOff });
      if (stored || body.passwordOff) await endSessionsOf(sql, number, cookie.read(ctx));
    });
    ctx.body = showMe({ ...person, name, passwordOff });
  });
};

export const invalidCredentials = (detail: string) => new Problem('invalid_credentials', detail);
