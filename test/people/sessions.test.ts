/** Sessions: how long they last, what ends them, and who can use them. */
import { describe, expect, it } from 'vitest';
import { createCli } from '../support/cli.ts';
import { addPasskey, signInOptions, signInWith } from '../support/passkeys.ts';
import { accountSettings, joinedAs, openBrowser, origin, password, storedAs } from '../support/people.ts';
import { expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { at, openStores, useStackWithApi } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const stack = await useStackWithApi({ env: accountSettings });
const { db, sql } = stack;
const { baseUrl } = stack.api;
const other = await startApi({ ...stack.env, ...accountSettings });

const join = ({ organizationId } = stack.tenant) => joinedAs(db, baseUrl, { organizationId });
const mayRead = async (token: string, api = baseUrl) =>
  (await openBrowser(api).as(token, 'GET', 'organization')).status;

describe('a session', () => {
  it('is over in every process once it was signed out, here or everywhere', async () => {
    const { email, browser } = await join();
    const [here, there] = [openBrowser(baseUrl), openBrowser(other.baseUrl)];
    await here.signIn(email);
    there.jar.cookie = here.jar.cookie;
    expect((await here.post<object>('sign-out')).body).toEqual({ ended: 1 });
    expect(here.jar.cookie).toBe('');
    expectProblem(await there.post('sign-in/renew'), 401, 'invalid_credentials');
    expect((await browser.post('sign-in/renew')).status).toBe(200);
    await here.signIn(email);
    expect((await here.post<object>('sign-out', { everywhere: true })).body).toEqual({ ended: 2 });
    expectProblem(await browser.post('sign-in/renew'), 401, 'invalid_credentials');
    expect((await browser.post<object>('sign-out')).body).toEqual({ ended: 0 });
  });

  it('is good for 30 days of use, 90 in all, and a person has 20', async () => {
    const { email, browser } = await join();
    const aged = async (used: string, created: string) => {
      await browser.signIn(email);
      await sql`
        update person_sessions set used_at = now() - ${used}::interval, created_at = now() - ${created}::interval
        where hash = ${storedAs(at(browser.jar.cookie.split('='), 1))}`;
      return (await browser.post('sign-in/renew')).status;
    };
    expect(await aged('29 days', '89 days')).toBe(200);
    expect([await aged('31 days', '31 days'), await aged('1 day', '91 days')]).toEqual([401, 401]);
    await sql`
      insert into person_sessions (hash, person_number)
      select sha256((email || n)::bytea), number from people, generate_series(1, 30) as n where email = ${email}`;
    await browser.signIn(email);
    const [left] = await sql`
      select count(*)::int as there from person_sessions
      where person_number = (select number from people where email = ${email})`;
    expect(left).toEqual({ there: 20 });
    expect((await browser.post('sign-in/renew')).status).toBe(200);
  });

  it('is for the service’s own pages: no other origin, sandboxed frame or program can use it', async () => {
    const { email, browser } = await join();
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '' },
      { origin: `${origin}:8443` },
    ]) {
      const page = openBrowser(baseUrl, headers);
      page.jar.cookie = browser.jar.cookie;
      for (const path of ['renew', 'password', 'setup', 'invitation'])
        expectProblem(await page.post(`sign-in/${path}`, { email, password }), 403, 'origin_not_allowed');
      const refused = await page.post('sign-out', { everywhere: true });
      expectProblem(refused, 403, 'origin_not_allowed');
      expect(refused.body.detail).toContain(origin);
    }
    expect((await browser.post('sign-in/renew')).status).toBe(200);
  });

  it('ends with org revoke-tokens, and so do its tokens', async () => {
    const tenant = await makeTenant(db);
    const { browser, token } = await join(tenant);
    await createCli(stack.env).json('org', 'revoke-tokens', tenant.organizationId);
    expectProblem(await browser.post('sign-in/renew'), 401, 'invalid_credentials');
    await eventually(async () => expect(await mayRead(token)).toBe(401));
  });

  it('goes on while SECRETS_KEY is exchanged, and tokens of both keys are valid meanwhile', async () => {
    const stores = await openStores();
    const { organizationId } = await makeTenant(stores.db);
    const [old, fresh] = ['ab'.repeat(32), 'cd'.repeat(32)];
    const start = (keys: Record<string, string>) => startApi({ ...stores.env, ...accountSettings, ...keys });
    const before = await start({ SECRETS_KEY: old });
    const { browser, token } = await joinedAs(stores.db, before.baseUrl, { organizationId });
    const meanwhile = await start({ SECRETS_KEY: fresh, SECRETS_KEY_PREVIOUS: old });
    const during = openBrowser(meanwhile.baseUrl);
    during.jar.cookie = browser.jar.cookie;
    const renewed = (await during.post('sign-in/renew')).body.token;
    const passkey = await addPasskey(browser, token);
    const { challenge } = await signInOptions(browser);
    expect((await during.post('sign-in/passkey/verify', { credential: passkey.signed({ challenge }) })).status).toBe(
      200,
    );
    for (const api of [before, meanwhile])
      expect([await mayRead(token, api.baseUrl), await mayRead(renewed, api.baseUrl)]).toEqual([200, 200]);
    const after = await start({ SECRETS_KEY: fresh });
    expect(await mayRead(renewed, after.baseUrl)).toBe(401);
    const later = openBrowser(after.baseUrl);
    later.jar.cookie = browser.jar.cookie;
    const { body } = await later.post('sign-in/renew');
    expect((await signInWith(openBrowser(after.baseUrl), passkey)).status).toBe(200);
    expect([await mayRead(body.token, after.baseUrl), await mayRead(body.token, meanwhile.baseUrl)]).toEqual([
      200, 200,
    ]);
  });
});
