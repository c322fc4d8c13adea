/** An organization's people: who is invited, may do what, and is removed. */
import { describe, expect, it } from 'vitest';
import { type Scope, scopes } from '#libs/base/terms/terms';
import type { PeoplePage, Person } from '#libs/people/contract';
import type { ActsPage } from '#libs/tenants/contract';
import { personSubject } from '#libs/tenants/person-tokens';
import { createCli } from '../support/cli.ts';
import { createAsk, tokenFor } from '../support/client.ts';
import { accountSettings, invite, joinedAs, openBrowser, origin, password, someone } from '../support/people.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { at, useStackWithApi } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const people = '/v1/organization/people';
type Invited = Person & { inviteUrl: string };

const stack = await useStackWithApi({ env: accountSettings });
const { db } = stack;
const { baseUrl } = stack.api;
const secretIn = ({ inviteUrl }: { inviteUrl: string }) => inviteUrl.replace(`${origin}/invitation#invite=`, '');

/** An organization whose operator may do all, and whom somebody joins. */
async function makeOrganization() {
  const { organizationId } = await makeTenant(db);
  const ask = createAsk(baseUrl, organizationId, { scope: scopes.join(' '), sub: 'mara' });
  const join = (given: Scope[]) => joinedAs(db, baseUrl, { organizationId, scopes: given });
  const listed = async () => (await ask<PeoplePage>('GET', people)).body.people;
  return { organizationId, ask, join, listed };
}

it('are invited by address, and join with the scopes that they were given', async () => {
  const { ask, listed } = await makeOrganization();
  const invited = await ask<Invited>('POST', people, {
    body: { email: 'Bo+Test@Example.COM', scopes: ['manage', 'read'] },
  });
  expect([invited.status, invited.body]).toEqual([
    201,
    {
      personId: expect.stringMatching(/^per_\w{20}$/),
      email: 'bo+test@example.com',
      name: null,
      scopes: ['read', 'manage'],
      createdAt: expect.any(String),
      lastSeenAt: null,
      passkeys: 0,
      pending: true,
      inviteUrl: expect.stringMatching(/^https:\/\/consent\.example\.com\/invitation#invite=[\w-]{43}$/),
    },
  ]);
  const { inviteUrl, ...pending } = invited.body;
  expect(await listed()).toEqual([pending]);
  expectProblem(
    await ask('POST', people, { body: { email: 'bo+test@example.com', scopes: ['read'] } }),
    409,
    'email_taken',
  );
  const accept = { invite: secretIn({ inviteUrl }), name: 'Bo Example', password };
  const { token } = (await openBrowser(baseUrl).post('sign-in/invitation', accept)).body;
  expect(await listed()).toEqual([{ ...pending, name: 'Bo Example', lastSeenAt: expect.any(String), pending: false }]);
  expect((await openBrowser(baseUrl).as(token, 'GET', 'organization')).body).toMatchObject({
    scopes: ['read', 'manage'],
  });
  expectProblem(
    await ask('POST', people, { body: { email: 'bo+test@example.com', scopes: ['read'] } }),
    409,
    'email_taken',
  );
});

it.each([
  'ann',
  'ann@example',
  'a n@example.com',
  '@example.com',
  'ann@@example.com',
  'ann\u202e@example.com',
  'ann\u0000@example.com',
  `${'a'.repeat(65)}@example.com`,
  `ann@${'b'.repeat(247)}.com`,
])('have an address that is one: not %j', async (email) => {
  const { ask } = await makeOrganization();
  expectBlame(await ask('POST', people, { body: { email, scopes: ['read'] } }), '/email');
});

it('a request that is sent again with its Idempotency-Key invites nobody twice', async () => {
  const { ask, listed } = await makeOrganization();
  const send = () =>
    ask<Invited>('POST', people, {
      body: { email: someone(), scopes: ['read'] },
      headers: { 'idempotency-key': 'once' },
    });
  const body = { email: someone(), scopes: ['read'] };
  const headers = { 'idempotency-key': 'twice' };
  const [first, again] = [await ask('POST', people, { body, headers }), await ask('POST', people, { body, headers })];
  expect([again.status, again.body]).toEqual([201, first.body]);
  expect(await listed()).toHaveLength(1);
  expect([(await send()).status, (await send()).status]).toEqual([201, 422]);
});

it('a new invitation ends the one before, and there is none for who has accepted', async () => {
  const { ask } = await makeOrganization();
  const invited = (await ask<Invited>('POST', people, { body: { email: someone(), scopes: ['read'] } })).body;
  const again = await ask<Invited>('POST', `${people}/${invited.personId}/invitation`);
  expect(again.status).toBe(201);
  const accept = (of: Invited) =>
    openBrowser(baseUrl).post('sign-in/invitation', { invite: secretIn(of), name: 'Bo', password });
  expectProblem(await accept(invited), 401, 'invalid_invitation');
  expect((await accept(again.body)).status).toBe(200);
  expectProblem(await ask('POST', `${people}/${invited.personId}/invitation`), 409, 'not_pending');
});

it('nobody gives a scope that they lack, also not by a new link for somebody who has more', async () => {
  const { organizationId, ask, join } = await makeOrganization();
  const { personId } = await join(['read', 'privacy']);
  const manager = await join(['manage']);
  const asManager = <Body>(method: string, path: string, body?: object) =>
    manager.browser.as<Body>(manager.token, method, path, body);
  const refused = await asManager('POST', 'organization/people', { email: someone(), scopes: ['manage', 'read'] });
  expectProblem(refused, 403, 'insufficient_scope');
  expectProblem(
    await asManager('PATCH', `organization/people/${personId}`, { scopes: ['read', 'publish'] }),
    403,
    'insufficient_scope',
  );
  expectProblem(
    await asManager('PATCH', `organization/people/${manager.personId}`, { scopes: [...scopes] }),
    403,
    'insufficient_scope',
  );
  await invite(db, organizationId, 'more@example.com', ['privacy']);
  const pending = (await ask<PeoplePage>('GET', people)).body.people.find(({ email }) => email === 'more@example.com');
  expectProblem(
    await asManager('POST', `organization/people/${pending?.personId}/invitation`),
    403,
    'insufficient_scope',
  );
  const less = await asManager<Person>('PATCH', `organization/people/${personId}`, { scopes: ['privacy'] });
  expect(less.body.scopes).toEqual(['privacy']);
});

describe('rights', () => {
  it('change within a second, also of tokens that are out, in every process', async () => {
    const { ask, join } = await makeOrganization();
    const other = await startApi({ ...stack.env, ...accountSettings });
    const { personId, token } = await join(['read', 'privacy']);
    const scopesAt = async (url: string) =>
      (await openBrowser(url).as<{ scopes: string[] }>(token, 'GET', 'organization')).body.scopes;
    expect([await scopesAt(baseUrl), await scopesAt(other.baseUrl)]).toEqual([
      ['read', 'privacy'],
      ['read', 'privacy'],
    ]);
    await ask('PATCH', `${people}/${personId}`, { body: { scopes: ['privacy'] } });
    expect(await scopesAt(baseUrl)).toEqual(['privacy']);
    await eventually(async () => expect(await scopesAt(other.baseUrl)).toEqual(['privacy']));
    await ask('DELETE', `${people}/${personId}`);
    expect((await openBrowser(baseUrl).as(token, 'GET', 'organization')).status).toBe(401);
    await eventually(async () =>
      expect((await openBrowser(other.baseUrl).as(token, 'GET', 'organization')).status).toBe(401),
    );
  });

  it('end in one organization alone; who belongs to no other is deleted', async () => {
    const [one, two] = [await makeOrganization(), await makeOrganization()];
    const { browser, email, token, personId } = await one.join(['read']);
    const secret = await invite(db, two.organizationId, email, ['read']);
    await browser.post('sign-in/invitation', { invite: secret }, { authorization: `Bearer ${token}` });
    expectProblem(await two.ask('DELETE', `${people}/${personId}`), 404, 'person_not_found');
    await one.ask('DELETE', `${people}/${personId}`);
    const renewed = await browser.post('sign-in/renew');
    expect(renewed.body.organizations).toEqual([{ organizationId: two.organizationId, name: expect.any(String) }]);
    await two.ask('DELETE', `${people}/${at(await two.listed(), 0).personId}`);
    expectProblem(await browser.post('sign-in/renew'), 401, 'invalid_credentials');
    expectProblem(await browser.signIn(email), 401, 'invalid_credentials');
    const [left] = await stack.sql`select count(*)::int as there from people where email = ${email}`;
    expect(left).toEqual({ there: 0 });
  });

  it('to manage stay with somebody who is not pending, also where two remove each other', async () => {
    const { ask, join, organizationId } = await makeOrganization();
    const [first, second] = [await join(['manage']), await join(['read', 'manage'])];
    const removed = await Promise.all([first, second].map(({ personId }) => ask('DELETE', `${people}/${personId}`)));
    expect(removed.map(({ status }) => status).sort()).toEqual([200, 409]);
    const left = removed[0]?.status === 200 ? second : first;
    await invite(db, organizationId, someone(), ['manage']);
    expectProblem(await ask('DELETE', `${people}/${left.personId}`), 409, 'last_manager');
    expectProblem(
      await ask('PATCH', `${people}/${left.personId}`, { body: { scopes: ['read'] } }),
      409,
      'last_manager',
    );
    await join(['manage']);
    expect((await ask('DELETE', `${people}/${left.personId}`)).status).toBe(200);
  });
});

it('tokens of people come from this service alone', async () => {
  const { organizationId, join } = await makeOrganization();
  const { personId } = await join(['read']);
  for (const sub of [personSubject + personId, personSubject]) {
    const ask = createAsk(baseUrl, organizationId, { sub, scope: scopes.join(' ') });
    expectProblem(await ask('GET', '/v1/organization'), 401, 'invalid_token');
  }
  const [, payload, signature] = tokenFor(organizationId, { sub: personSubject + personId }).split('.');
  const header = Buffer.from('{"alg":"HS256","kid":"assent-people"}').toString('base64url');
  const forged = await openBrowser(baseUrl).as(`${header}.${payload}.${signature}`, 'GET', 'organization');
  expectProblem(forged, 401, 'invalid_token');
});

it('acts name the person, and have no link', async () => {
  const { ask, join } = await makeOrganization();
  const { browser, token, personId, email } = await join(['read', 'manage']);
  const invited = (
    await browser.as<Invited>(token, 'POST', 'organization/people', { email: someone(), scopes: ['read'] })
  ).body;
  await browser.as(token, 'DELETE', `organization/people/${invited.personId}`);
  const { acts } = (await ask<ActsPage>('GET', '/v1/organization/acts?limit=50')).body;
  const ofPeople = acts.filter(({ act }) => act.startsWith('person.'));
  expect(ofPeople.map(({ act, actor, subject, details }) => [act, actor, subject, details])).toEqual([
    ['person.delete', `person:${personId}`, invited.personId, {}],
    ['person.create', `person:${personId}`, invited.personId, { email: invited.email, scopes: ['read'] }],
    ['person.create', 'test', personId, { email, scopes: ['read', 'manage'] }],
  ]);
  expect(JSON.stringify(acts)).not.toContain('invite=');
  expect(stack.api.lines.join('\n')).not.toMatch(/lamps|scrypt\$|invite=/);
});

describe('the command line', () => {
  const cli = createCli({ ...stack.env, ...accountSettings });

  it('gives rights to somebody who has an account, and a link to who has none', async () => {
    const [one, two] = [await makeOrganization(), await makeOrganization()];
    const { email, browser } = await one.join(['read']);
    const given = await cli.json<Person>('person', 'create', email.toUpperCase(), '--org', two.organizationId);
    expect(given).toMatchObject({ email, name: 'Ann Example', scopes: ['read'], pending: false });
    expect(given).not.toHaveProperty('inviteUrl');
    const renewed = await browser.post('sign-in/renew', { organizationId: two.organizationId });
    expect((await browser.as(renewed.body.token, 'GET', 'organization')).status).toBe(200);
    const invited = await cli.json<Invited>(
      'person',
      'create',
      someone(),
      '--org',
      two.organizationId,
      '--scope',
      'manage',
    );
    const accept = { invite: secretIn(invited), name: 'Cy', password };
    expect((await openBrowser(baseUrl).post('sign-in/invitation', accept)).status).toBe(200);
    expect(await cli.error('person', 'create', email, '--org', two.organizationId)).toMatch(/has, or has invited/);
    await cli.json('person', 'reset', email);
    for (const { ask } of [one, two]) {
      const { acts } = (await ask<ActsPage>('GET', '/v1/organization/acts?act=person.reset')).body;
      expect(acts).toMatchObject([{ act: 'person.reset', details: {} }]);
    }
    const set = await cli.json<Person>('person', 'set', email, '--org', two.organizationId, '--scope', 'read publish');
    expect(set.scopes).toEqual(['read', 'publish']);
    await cli.json('person', 'delete', email, '--org', two.organizationId);
    const { people: left } = await cli.json<PeoplePage>('person', 'list', '--org', two.organizationId);
    expect(left.map((each) => each.email)).toEqual([invited.email]);
    expect(await cli.error('person', 'delete', invited.email, '--org', two.organizationId)).toMatch(/scope manage/);
    expect(await cli.error('person', 'reset', 'nobody@example.com')).toMatch(/nobody has an account/);
  });
});
