/** How people get in, stay in and get out again: for the pages of the service alone. */
import { describe, expect, it } from 'vitest';
import { createAdministration } from '#libs/tenants/administration';
import { createCli } from '../support/cli.ts';
import { request } from '../support/client.ts';
import {
  accountSettings,
  invite,
  joinedAs,
  openBrowser,
  origin,
  password,
  resetSecret,
  someone,
  storedAs,
} from '../support/people.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { at, openStores, useStackWithApi } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const stack = await useStackWithApi({ env: accountSettings });
const { db, sql } = stack;
const { baseUrl } = stack.api;
const other = await startApi({ ...stack.env, ...accountSettings });

const join = ({ organizationId } = stack.tenant) => joinedAs(db, baseUrl, { organizationId });
const mayRead = async (token: string, api = baseUrl) =>
  (await openBrowser(api).as(token, 'GET', 'organization')).status;

describe('an invitation', () => {
  it('makes an account once, whose token and cookie are valid in every process', async () => {
    const secret = await invite(db, stack.tenant.organizationId, someone(), ['read']);
    const browser = openBrowser(baseUrl);
    const accept = () => browser.post('sign-in/invitation', { invite: secret, name: 'Ann', password });
    const { token, organizationId, organizations } = (await accept()).body;
    expect({ organizationId, organizations }).toEqual({
      organizationId: stack.tenant.organizationId,
      organizations: [{ organizationId, name: expect.stringMatching(/^Organization/) }],
    });
    expect(await Promise.all([mayRead(token), mayRead(token, other.baseUrl)])).toEqual([200, 200]);
    const elsewhere = openBrowser(other.baseUrl);
    elsewhere.jar.cookie = browser.jar.cookie;
    expect((await elsewhere.post('sign-in/renew')).status).toBe(200);
    expectProblem(await accept(), 401, 'invalid_invitation');
  });

  it('is refused late, and where it is guessed', async () => {
    const late = await invite(db, stack.tenant.organizationId, someone(), ['read']);
    await sql`update person_links set expires_at = now() - interval '1 second' where hash = ${storedAs(late)}`;
    for (const invite of [late, 'guessed']) {
      const refused = await openBrowser(baseUrl).post('sign-in/invitation', { invite, name: 'Ann', password });
      expectProblem(refused, 401, 'invalid_invitation');
    }
  });

  it('is accepted once by two at the same time', async () => {
    const secret = await invite(db, stack.tenant.organizationId, someone(), ['read']);
    const body = { invite: secret, name: 'Ann', password };
    const statuses = await Promise.all(
      [baseUrl, other.baseUrl].map(async (url) => (await openBrowser(url).post('sign-in/invitation', body)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  it('adds an organization to an account, with its token alone', async () => {
    const { organizationId } = stack.tenant;
    const { email, browser, token } = await join();
    const second = await makeTenant(db);
    const secret = await invite(db, second.organizationId, email, ['manage']);
    const asNew = await openBrowser(baseUrl).post('sign-in/invitation', { invite: secret, name: 'Eve', password });
    expectProblem(asNew, 409, 'email_taken');
    const joined = await browser.post('sign-in/invitation', { invite: secret }, { authorization: `Bearer ${token}` });
    expect(joined.body.organizationId).toBe(second.organizationId);
    expect(joined.body.organizations.map((each) => each.organizationId).sort()).toEqual(
      [organizationId, second.organizationId].sort(),
    );
    const back = await browser.post('sign-in/renew', { organizationId });
    expect(back.body.organizationId).toBe(organizationId);
    expect((await browser.signIn(email)).body.organizationId).toBe(organizationId);
    expectBlame(await browser.post('sign-in/renew', { organizationId: 'org_x' }), '/organizationId');
  });

  it('refuses passwords that are easy to guess, and says why', async () => {
    const email = `marlene.${someone()}`;
    const secret = await invite(db, stack.tenant.organizationId, email, ['read']);
    const browser = openBrowser(baseUrl);
    for (const [given, why] of [
      ['too short', /12 to 128/],
      ['x'.repeat(129), /12 to 128/],
      ['aaaaaaaaaaaaaaaa', /repeats/],
      ['password12345', /often used/],
      [email, /address|guess/],
    ] as const) {
      const refused = await browser.post('sign-in/invitation', { invite: secret, name: 'Marlene', password: given });
      expectBlame(refused, '/password');
      expect(refused.body.detail).toMatch(why);
    }
    expectBlame(await browser.post('sign-in/invitation', { invite: secret }), '/name', '/password');
    const longest = `${password} ${'é😀'.repeat(52)}`;
    expect(
      (await browser.post('sign-in/invitation', { invite: secret, name: 'Marlene', password: longest })).status,
    ).toBe(200);
    expect((await browser.signIn(email, longest.normalize('NFD'))).status).toBe(200);
  });
});

describe('a password', () => {
  it('opens a session of the right person, in upper or lower case', async () => {
    const { email } = await join();
    const { status, body, headers } = await openBrowser(baseUrl).signIn(email.toUpperCase());
    expect([status, await mayRead(body.token)]).toEqual([200, 200]);
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-assent=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('gets the same response for all that is wrong', async () => {
    const { email } = await join();
    const wrong = async (given: string, secret: string) => {
      const { status, body } = await openBrowser(baseUrl).signIn(given, secret);
      return [status, body.code, body.detail];
    };
    const responses = [
      await wrong(email, 'wrong'),
      await wrong(`x${email}`, password),
      await wrong('no address', ''),
      await wrong('\u202eann@example.com', password),
    ];
    expect(new Set(responses.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(responses[0]?.slice(0, 2)).toEqual([401, 'invalid_credentials']);
  });

  it('is changed with the old one, which ends all other sessions', async () => {
    const { email, browser, token } = await join();
    const elsewhere = openBrowser(other.baseUrl);
    await elsewhere.signIn(email);
    const change = (body: object) => browser.as(token, 'PATCH', 'people/me', body);
    const next = `${password} and june`;
    expectBlame(await change({ password: next }), '/oldPassword');
    expectProblem(await change({ password: next, oldPassword: 'wrong' }), 401, 'invalid_credentials');
    const changed = await change({ name: 'Ann Other', password: next, oldPassword: password });
    expect(changed.body).toEqual({ email, name: 'Ann Other', passwordOff: false, createdAt: expect.any(String) });
    expect((await browser.as(token, 'GET', 'people/me')).body).toEqual(changed.body);
    expectProblem(await elsewhere.post('sign-in/renew'), 401, 'invalid_credentials');
    expect((await browser.post('sign-in/renew')).status).toBe(200);
    expect((await browser.signIn(email)).status).toBe(401);
    expect((await browser.signIn(email, next)).status).toBe(200);
  });

  it('is replaced with a link of the operator, which ends all sessions', async () => {
    const { email, browser } = await join();
    const cli = createCli({ ...stack.env, ...accountSettings });
    const next = `${password} and june`;
    const reset = { invite: await resetSecret(cli, email), password: next };
    const elsewhere = openBrowser(other.baseUrl);
    expect((await elsewhere.post('sign-in/invitation', reset)).status).toBe(200);
    expectProblem(await elsewhere.post('sign-in/invitation', reset), 401, 'invalid_invitation');
    expectProblem(await browser.post('sign-in/renew'), 401, 'invalid_credentials');
    expect([(await browser.signIn(email)).status, (await browser.signIn(email, next)).status]).toEqual([401, 200]);
  });
});

describe('the first set-up', () => {
  it('makes organization, person and domain with a link of the operator, once', async () => {
    const stores = await openStores();
    // as the demo's organization
    await createAdministration(stores.db, 'test').setPlan('default', {});
    await createAdministration(stores.db, 'test').createOrganization('Demo', 'default');
    const cli = createCli({ ...stores.env, ...accountSettings });
    const api = await startApi({ ...stores.env, ...accountSettings });
    const link = async () =>
      (await cli.json<{ setupUrl: string }>('setup')).setupUrl.replace(`${origin}/setup#setup=`, '');
    const body = {
      organization: 'Example shops',
      name: 'Ann Example',
      email: 'Ann+Admin@Example.com',
      password,
      domain: 'www.example.com',
      origins: ['https://www.example.com'],
    };
    const [replaced, setup] = [await link(), await link()];
    const setUp = (given: string, changed = {}) =>
      openBrowser(api.baseUrl).post<{ token: string; domainId: string; organizationId: string }>('sign-in/setup', {
        ...body,
        setup: given,
        ...changed,
      });
    expectProblem(await setUp(replaced), 401, 'invalid_setup');
    expectBlame(await setUp(setup, { password: 'Example shops 1' }), '/password');
    const both = await Promise.all([setUp(setup), setUp(setup)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    const done = at(
      both.filter(({ status }) => status === 200),
      0,
    ).body;
    const own = await openBrowser(api.baseUrl).as<{ domains: object[] }>(done.token, 'GET', 'organization');
    expect(own.body).toMatchObject({
      organizationId: done.organizationId,
      name: 'Example shops',
      domains: [{ domainId: done.domainId, name: 'www.example.com' }],
      scopes: ['read', 'privacy', 'import', 'manage', 'publish', 'current'],
    });
    expect((await openBrowser(api.baseUrl).signIn('ann+admin@example.com')).status).toBe(200);
    expect(await cli.error('setup')).toMatch(/somebody has an account already/);
    const acts =
      await stores.sql`select act, actor, details::text from administrative_acts where actor like 'person:%'`;
    expect(acts.map(({ act }) => act)).toEqual(['org.create', 'domain.create', 'person.create']);
    expect(JSON.stringify(acts)).not.toMatch(/lamps|scrypt/);
  });
});

describe('accounts', () => {
  it('need SECRETS_KEY and PUBLIC_URL', async () => {
    const without = await startApi({ ...stack.env, PUBLIC_URL: '' });
    expectProblem(await openBrowser(without.baseUrl).signIn('ann@example.com'), 503, 'not_configured');
    const offered = async (url: string) => (await request<object>(url, '/v1/sign-in')).body;
    expect(await offered(without.baseUrl)).toEqual({ oidc: null, accounts: false });
    expect(await offered(baseUrl)).toEqual({ oidc: null, accounts: true });
  });

  it.each([
    ['https://a.example/consent', /^__Secure-assent=.*; Path=\/consent; .*; Secure$/],
    ['http://localhost:3000', /^assent_3000=[^;]*; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/],
  ])('at %s have a cookie of their own', async (url, form) => {
    const api = await startApi({ ...stack.env, PUBLIC_URL: url });
    const { email } = await join();
    const browser = openBrowser(api.baseUrl, { origin: new URL(url).origin });
    expect((await browser.signIn(email)).headers.get('set-cookie')).toMatch(form);
    expect((await browser.post('sign-in/renew')).status).toBe(200);
  });
});
