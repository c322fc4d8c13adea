/** Passkeys: added, signed in with, and removed. What a browser does with them is in test/browser. */
import { describe, expect, it } from 'vitest';
import type { Passkey } from '#libs/people/contract';
import type { ActsPage } from '#libs/tenants/contract';
import { createCli } from '../support/cli.ts';
import { createAsk } from '../support/client.ts';
import { addPasskey, makePasskey, signInOptions, signInWith } from '../support/passkeys.ts';
import { accountSettings, joinedAs, openBrowser, password, resetSecret, storedAs } from '../support/people.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { at, useStackWithApi } from '../support/stack.ts';

const own = 'people/me/passkeys';
type Options = { challenge: string; user: { id: string; name: string }; excludeCredentials: { id: string }[] };

const stack = await useStackWithApi({ env: accountSettings });
const { db, sql } = stack;
const { baseUrl } = stack.api;
const { organizationId } = stack.tenant;
const other = await startApi({ ...stack.env, ...accountSettings });
const join = () => joinedAs(db, baseUrl, { organizationId });
type Person = Awaited<ReturnType<typeof join>>;
const listed = async ({ browser, token }: Person) =>
  (await browser.as<{ passkeys: Passkey[] }>(token, 'GET', own)).body.passkeys;
const options = ({ browser, token }: Person) => browser.as<Options>(token, 'POST', `${own}/options`);
const add = ({ browser, token }: Person, body: object) => browser.as<Passkey>(token, 'POST', `${own}/verify`, body);
const isSignedIn = async (browser: Person['browser']) => (await browser.post('sign-in/renew')).status === 200;
const turnPasswordOff = ({ browser, token }: Person, passwordOff = true) =>
  browser.as(token, 'PATCH', 'people/me', { passwordOff });

describe('a passkey', () => {
  it('is added under a name, and signs in without address and password, in every process', async () => {
    const person = await join();
    const asked = (await options(person)).body;
    expect(asked).toMatchObject({
      rp: { id: 'consent.example.com', name: 'Assent' },
      user: { name: person.email, displayName: 'Ann Example', id: expect.stringMatching(/^[\w-]{22}$/) },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [],
      timeout: 120_000,
    });
    const passkey = makePasskey();
    const credential = passkey.created(asked);
    const added = await add(person, { name: 'Laptop', credential });
    expect([added.status, added.body]).toEqual([
      201,
      {
        passkeyId: expect.stringMatching(/^pky_\w{20}$/),
        name: 'Laptop',
        createdAt: expect.any(String),
        lastUsedAt: null,
      },
    ]);
    const browser = openBrowser(other.baseUrl);
    expect(await signInOptions(browser)).toEqual({
      challenge: expect.stringMatching(/^[\w-]{72}$/),
      rpId: 'consent.example.com',
      timeout: 120_000,
      userVerification: 'required',
    });
    const { status, body } = await signInWith(browser, passkey);
    expect([status, body.organizationId]).toEqual([200, organizationId]);
    expect((await openBrowser(baseUrl).as(body.token, 'GET', 'people/me')).body).toMatchObject({ email: person.email });
    expect(await isSignedIn(browser)).toBe(true);
    expect(await listed(person)).toEqual([{ ...added.body, lastUsedAt: expect.any(String) }]);
    expect((await options(person)).body.excludeCredentials).toMatchObject([{ id: credential.id }]);
  });

  it('is added within ten minutes of a sign-in alone', async () => {
    const person = await join();
    const session = at(person.browser.jar.cookie.split('='), 1);
    await sql`update person_sessions set created_at = now() - interval '11 minutes' where hash = ${storedAs(session)}`;
    const refused = await options(person);
    expectProblem(refused, 401, 'invalid_credentials');
    expect(refused.body.detail).toMatch(/sign in again/);
    // of somebody else, or none
    person.browser.jar.cookie = (await join()).browser.jar.cookie;
    expectProblem(await options(person), 401, 'invalid_credentials');
    person.browser.jar.cookie = '';
    expectProblem(await options(person), 401, 'invalid_credentials');
    await person.browser.signIn(person.email);
    expect((await options(person)).status).toBe(200);
  });

  it('is refused from another domain or origin, without user verification, or twice', async () => {
    const person = await join();
    const passkey = makePasskey();
    const asked = (await options(person)).body;
    for (const wrong of [{ domain: 'example.com' }, { origin: 'https://evil.example' }, { isVerified: false }])
      expectBlame(await add(person, { credential: passkey.created(asked, wrong) }), '/credential');
    const credential = passkey.created(asked);
    expect((await add(person, { credential })).body.name).toBe('Passkey');
    expectBlame(await add(person, { credential }), '/credential');
    expectBlame(await add(person, { credential: makePasskey().created(asked) }), '/credential');
    const browser = openBrowser(baseUrl);
    for (const wrong of [{ domain: 'example.com' }, { origin: 'https://evil.example' }, { isVerified: false }])
      expectProblem(await signInWith(browser, passkey, wrong), 401, 'invalid_credentials');
    expect((await signInWith(browser, passkey)).status).toBe(200);
  });

  it('is asked with a challenge for one person or for signing in, good for two minutes, once', async () => {
    const [person, somebody] = [await join(), await join()];
    const passkey = await addPasskey(person.browser, person.token);
    const theirs = (await options(somebody)).body;
    expectBlame(await add(person, { credential: makePasskey().created(theirs) }), '/credential');
    const browser = openBrowser(baseUrl);
    const verify = (challenge: string, at = browser) =>
      at.post('sign-in/passkey/verify', { credential: passkey.signed({ challenge }) });
    const { challenge } = await signInOptions(browser);
    expectBlame(await add(person, { credential: makePasskey().created({ challenge }) }), '/credential');
    const late = Buffer.from(challenge, 'base64url');
    late.writeUIntBE(Date.now() + 60_000, 16, 6);
    for (const wrong of ['AAAA', theirs.challenge, late.toString('base64url')])
      expectProblem(await verify(wrong), 401, 'invalid_credentials');
    const both = await Promise.all([verify(challenge), verify(challenge, openBrowser(other.baseUrl))]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expectProblem(await verify(challenge), 401, 'invalid_credentials');
  });

  it('signs in only who has it, and not with a counter of the past', async () => {
    const [person, somebody] = [await join(), await join()];
    const passkey = await addPasskey(person.browser, person.token);
    const theirs = await addPasskey(somebody.browser, somebody.token);
    const browser = openBrowser(baseUrl);
    expectProblem(await signInWith(browser, makePasskey()), 401, 'invalid_credentials');
    const asked = await signInOptions(browser);
    const credential = passkey.signed(asked);
    const { userHandle } = theirs.signed(asked).response;
    const swapped = { ...credential, response: { ...credential.response, userHandle } };
    expectProblem(await browser.post('sign-in/passkey/verify', { credential: swapped }), 401, 'invalid_credentials');
    expect((await signInWith(browser, passkey, { counter: 7 })).status).toBe(200);
    expectProblem(await signInWith(browser, passkey, { counter: 7 }), 401, 'invalid_credentials');
    expect((await signInWith(browser, passkey, { counter: 8 })).status).toBe(200);
  });

  it('is shown with its person in the list of the organization, which has acts without keys', async () => {
    const ask = createAsk(baseUrl, organizationId, { scope: 'manage' });
    const person = await join();
    const { passkeyId } = await addPasskey(person.browser, person.token);
    await addPasskey(person.browser, person.token, 'Phone');
    const { people } = (await ask<{ people: { email: string; passkeys: number }[] }>('GET', '/v1/organization/people'))
      .body;
    expect(people.find(({ email }) => email === person.email)?.passkeys).toBe(2);
    await person.browser.as(person.token, 'DELETE', `${own}/${passkeyId}`);
    const { acts } = (await ask<ActsPage>('GET', '/v1/organization/acts?limit=50')).body;
    const ofPasskeys = acts.filter(({ act, subject }) => act.startsWith('passkey.') && subject === person.personId);
    expect(ofPasskeys.map(({ act, actor, details }) => [act, actor, details])).toEqual([
      ['passkey.delete', `person:${person.personId}`, { name: 'Laptop' }],
      ['passkey.create', `person:${person.personId}`, { name: 'Phone' }],
      ['passkey.create', `person:${person.personId}`, { name: 'Laptop' }],
    ]);
  });

  it('is for the service’s own pages: no other origin, sandboxed frame or program can use it', async () => {
    const person = await join();
    const passkey = await addPasskey(person.browser, person.token);
    const credential = passkey.signed(await signInOptions(person.browser));
    for (const from of ['https://evil.example', 'null', '']) {
      const page = openBrowser(baseUrl, { origin: from });
      page.jar.cookie = person.browser.jar.cookie;
      const refused = [
        await page.post('sign-in/passkey/options'),
        await page.post('sign-in/passkey/verify', { credential }),
        await page.as(person.token, 'POST', `${own}/options`),
        await page.as(person.token, 'POST', `${own}/verify`, { credential: makePasskey().created({ challenge: 'a' }) }),
        await page.as(person.token, 'DELETE', `${own}/${passkey.passkeyId}`),
        await page.as(person.token, 'PATCH', 'people/me', { passwordOff: true }),
      ];
      for (const each of refused) expectProblem(each, 403, 'origin_not_allowed');
    }
    expect((await person.browser.post('sign-in/passkey/verify', { credential })).status).toBe(200);
  });

  it('is one of twenty at most', async () => {
    const person = await join();
    const asked = (await options(person)).body;
    await sql`
      insert into person_passkeys (id, person_number, name, credential_id, public_key, counter, transports)
      select 'pky_' || md5(email || n), number, 'Key', md5(email || n), '', 0, '{}'
      from people, generate_series(1, 20) as n where email = ${person.email}`;
    expectProblem(await options(person), 409, 'quota_exceeded');
    expectProblem(await add(person, { credential: makePasskey().created(asked) }), 409, 'quota_exceeded');
    const token = createAsk(baseUrl, organizationId, { scope: 'manage' });
    expectProblem(await token('GET', `/v1/${own}`), 404, 'person_not_found');
  });
});

describe('removing a passkey', () => {
  it('ends all other sessions, and what it signs in', async () => {
    const [person, somebody] = [await join(), await join()];
    const passkey = await addPasskey(person.browser, person.token);
    const elsewhere = openBrowser(other.baseUrl);
    await signInWith(elsewhere, passkey);
    const remove = (who: Person) => who.browser.as(who.token, 'DELETE', `${own}/${passkey.passkeyId}`);
    expectProblem(await remove(somebody), 404, 'key_not_found');
    expect((await remove(person)).body).toMatchObject({ passkeyId: passkey.passkeyId, name: 'Laptop' });
    expect([await isSignedIn(person.browser), await isSignedIn(elsewhere)]).toEqual([true, false]);
    expectProblem(await signInWith(elsewhere, passkey), 401, 'invalid_credentials');
    expect(await listed(person)).toEqual([]);
  });
});

describe('without a password', () => {
  it('signs in who has a passkey, and nobody else', async () => {
    const person = await join();
    expectBlame(await turnPasswordOff(person), '/passwordOff');
    const passkey = await addPasskey(person.browser, person.token);
    const elsewhere = openBrowser(other.baseUrl);
    await elsewhere.signIn(person.email);
    expect((await turnPasswordOff(person)).body).toMatchObject({ passwordOff: true });
    expect([await isSignedIn(person.browser), await isSignedIn(elsewhere)]).toEqual([true, false]);
    const [off, unknown] = [await elsewhere.signIn(person.email), await elsewhere.signIn('nobody@example.com')];
    expectProblem(off, 401, 'invalid_credentials');
    expect(off.body.detail).toBe(unknown.body.detail);
    expect((await signInWith(elsewhere, passkey)).status).toBe(200);
    await turnPasswordOff(person, false);
    expect((await elsewhere.signIn(person.email)).status).toBe(200);
  });

  it('the last passkey that is removed switches the password on again', async () => {
    const person = await join();
    const [first, last] = [
      await addPasskey(person.browser, person.token),
      await addPasskey(person.browser, person.token, 'Phone'),
    ];
    await turnPasswordOff(person);
    const signIn = async () => (await openBrowser(baseUrl).signIn(person.email)).status;
    for (const [{ passkeyId }, status] of [
      [first, 401],
      [last, 200],
    ] as const) {
      await person.browser.as(person.token, 'DELETE', `${own}/${passkeyId}`);
      expect(await signIn()).toBe(status);
    }
  });

  it('a link of the operator sets one, which signs in', async () => {
    const person = await join();
    await addPasskey(person.browser, person.token);
    await turnPasswordOff(person);
    const cli = createCli({ ...stack.env, ...accountSettings });
    const next = `${password} and june`;
    const reset = { invite: await resetSecret(cli, person.email), password: next };
    const browser = openBrowser(baseUrl);
    expect((await browser.post('sign-in/invitation', reset)).status).toBe(200);
    expect((await browser.signIn(person.email, next)).status).toBe(200);
  });
});
