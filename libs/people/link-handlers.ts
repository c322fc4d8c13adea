/** One-time links: the first set-up, an invitation, a new password. */
import type { Sql } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import type { BodyOf } from '#libs/base/http/routes';
import { refuseFields } from '#libs/base/terms/field-errors';
import { Problem } from '#libs/base/terms/problem';
import { scopes } from '#libs/base/terms/terms';
import { invalidToken } from '#libs/tenants/access-token';
import { createPerform, partOf } from '#libs/tenants/audited-change';
import { domainChanges } from '#libs/tenants/domains';
import { peopleChanges } from '#libs/tenants/organization-people';
import { organizationChanges } from '#libs/tenants/organizations';
import { personSubject } from '#libs/tenants/person-tokens';
import { makeId } from '#libs/tenants/tenants';
import { findLink, type Link, useLink } from './links.ts';
import { accountExists, changePerson, createPerson, findInvitation, findPerson, hasAnyPerson } from './people.ts';
import { signInRoutes as routes } from './routes.ts';
import { endSession, endSessionsOf, requireAccounts } from './sessions.ts';
import { type Opened, open, type SignInParts, signInResponse } from './sign-in.ts';

export const setUp = (parts: SignInParts): Middleware =>
  guard(routes.setUp, async (ctx, { body }) => {
    const { db, attempts, tenants } = parts;
    const { email, name, origins = [] } = body;
    const link = await attempts.secret(ctx, 'link', () => db.read((sql) => findLink(sql, body.setup)));
    if (!link || !isForSetup(link)) throw invalidSetup();
    const password = await attempts.newPassword(ctx, body.password, [email, name, body.organization]);
    const personId = makeId('per');
    const performAll = createPerform(db, personSubject + personId);
    const made = await performAll(async (sql, note) => {
      // the second of two concurrent set-ups finds the person of the first
      await sql`select pg_advisory_xact_lock(hashtext('assent.setup'))`;
      if (!(await useLink(sql, body.setup)) || (await hasAnyPerson(sql))) throw invalidSetup();
      const perform = partOf(sql, note);
      const organizations = organizationChanges(perform);
      await organizations.ensureDefaultPlan();
      const { organizationId } = await organizations.createOrganization(body.organization, 'default');
      const { domainId } = await domainChanges(perform).createDomain(organizationId, { name: body.domain, origins });
      const number = await createPerson(sql, { email, name, password });
      const all = { scopes: [...scopes], personId };
      await peopleChanges(perform).addPerson(organizationId, { email, personNumber: number }, all);
      return { domainId, opened: await open(sql, { number }, organizationId) };
    });
    await tenants.catchUp();
    ctx.body = { ...signInResponse(ctx, parts, made.opened), domainId: made.domainId };
  });

const isForSetup = ({ memberNumber, personNumber }: Link): boolean => memberNumber === null && personNumber === null;

const invalidSetup = () =>
  new Problem('invalid_setup', 'this link was used, has expired, or somebody has an account already');

export const acceptInvitation = (parts: SignInParts): Middleware =>
  guard(routes.acceptInvitation, async (ctx, { body }) => {
    const { db, attempts, tenants } = parts;
    const link = await attempts.secret(ctx, 'link', () => db.read((sql) => findLink(sql, body.invite)));
    const { memberNumber = null, personNumber = null } = link ?? {};
    let opened: Opened;
    if (personNumber !== null) opened = await reset(ctx, parts, personNumber, body);
    else if (memberNumber === null) throw invalidInvitation();
    else if (ctx.state.access) opened = await join(ctx, parts, memberNumber, body.invite);
    else opened = await joinAsNew(ctx, parts, memberNumber, body);
    await tenants.catchUp();
    ctx.body = signInResponse(ctx, parts, opened);
  });

type Body = BodyOf<typeof routes.acceptInvitation>;

const invalidInvitation = () =>
  new Problem('invalid_invitation', 'this link was used or replaced, or has expired: ask for a new one');

/** Throws a 401 if the link has expired or was used, even by a concurrent request. */
async function useInvitation(sql: Sql, invite: string): Promise<void> {
  if (!(await useLink(sql, invite))) throw invalidInvitation();
}

const requireFields = (body: Body, ...fields: ('name' | 'password')[]) => {
  const missing = fields.filter((field) => body[field] === undefined);
  if (missing.length > 0) throw refuseFields(missing.map((field) => ({ path: `/${field}`, message: 'is required' })));
};

/** With the access token of an account that exists. */
async function join(ctx: Context, { db, accounts }: SignInParts, memberNumber: number, invite: string) {
  const { personId, subject } = ctx.state.access ?? {};
  const person = personId === undefined ? undefined : await db.read((sql) => findPerson(sql, { personId }));
  if (!person || subject === undefined) throw invalidToken('the token was not issued to a person of this service');
  const previous = requireAccounts(accounts).cookie.read(ctx);
  const perform = createPerform(db, subject);
  return perform(async (sql, note) => {
    await useInvitation(sql, invite);
    const { organizationId } = await peopleChanges(partOf(sql, note)).acceptAs(memberNumber, person.number);
    const opened = await open(sql, { number: person.number }, organizationId);
    // its cookie is replaced; after the person was locked, as everywhere
    if (previous !== undefined) await endSession(sql, previous, false);
    return opened;
  });
}

async function joinAsNew(ctx: Context, { db, attempts }: SignInParts, memberNumber: number, body: Body) {
  requireFields(body, 'name', 'password');
  const { name = '', password: given = '' } = body;
  const member = await db.read((sql) => findInvitation(sql, memberNumber));
  if (!member) throw invalidInvitation();
  const { email, personId } = member;
  if (await db.read((sql) => findPerson(sql, { email }))) throw accountExists();
  const password = await attempts.newPassword(ctx, given, [email, name]);
  const perform = createPerform(db, personSubject + personId);
  return perform(async (sql, note) => {
    await useInvitation(sql, body.invite);
    const number = await createPerson(sql, { email, name, password });
    const { organizationId } = await peopleChanges(partOf(sql, note)).acceptAs(memberNumber, number);
    return open(sql, { number }, organizationId);
  });
}

/** With a link of `person reset`. Ends all sessions of the person. */
async function reset(ctx: Context, { db, attempts }: SignInParts, number: number, body: Body) {
  requireFields(body, 'password');
  const { password: given = '' } = body;
  const person = await db.read((sql) => findPerson(sql, { number }));
  if (!person) throw invalidInvitation();
  const password = await attempts.newPassword(ctx, given, [person.email, person.name]);
  return db.transaction(async (sql) => {
    await useInvitation(sql, body.invite);
    await changePerson(sql, number, { password, passwordOff: false });
    await endSessionsOf(sql, number);
    return open(sql, { number });
  });
}
