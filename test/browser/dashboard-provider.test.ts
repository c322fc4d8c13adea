/** Signing in to the dashboard with a real OpenID Connect provider. */
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { createAdministration } from '#libs/tenants/administration';
import { afterwards, click, step, type Visitor } from '../support/browser/browser.ts';
import { follow, useDashboard } from '../support/browser/dashboard.ts';
import { violations } from '../support/browser/look.ts';
import { audience, startProvider } from '../support/browser/provider.ts';
import { startApi } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const dashboard = useDashboard();

const customer = await dashboard.customer();
const { issuer, trouble, redirectTo, tokenOf } = await startProvider(customer.organizationId);
const api = await startApi({
  ...dashboard.env,
  JWT_ALGORITHM: 'RS256',
  JWT_JWKS_URL: `${issuer}/jwks`,
  JWT_ISSUER: issuer,
  JWT_AUDIENCE: audience,
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: 'dashboard',
  OIDC_SCOPES: 'openid offline_access read manage',
  OIDC_AUDIENCE: audience,
});
const { baseUrl } = api;
redirectTo(baseUrl);

const json = { 'access-control-allow-origin': '*', 'content-type': 'application/json' };

describe('signing in with a provider', () => {
  afterEach(() => trouble.clear());

  /** At the provider: that the dashboard may know who one is. */
  const consent = async (page: Page) => {
    await page.getByText('Authorize').first().waitFor();
    await page.locator('button[type="submit"]').click();
  };
  /** Somebody whom the provider does not know yet. */
  const signIn = async (path = '/') => {
    const visitor = await dashboard.visit();
    await visitor.context.clock.install();
    const { page } = visitor;
    await page.goto(baseUrl + path);
    await click(page, 'Sign in');
    await page.waitForURL(`${issuer}/interaction/**`);
    await page.locator('input[name="login"]').fill('mara');
    await page.locator('input[name="password"]').fill('any');
    await page.locator('button[type="submit"]').click();
    await consent(page);
    return visitor;
  };
  const isIn = (page: Page) => page.getByText(customer.name).first().waitFor();
  const stored = (page: Page, key: string) => page.evaluate((name) => sessionStorage.getItem(name), key);

  it('leads to the provider and back to where one was, and signs out there, too', async () => {
    const begun = new Promise<void>((resolve) => {
      trouble.set('/token', (_, response) => {
        response.writeHead(200, json);
        response.write('{');
        resolve();
      });
    });
    const { page, context, messages } = await signIn();
    await step('an answer that begins and never ends is said in words', async () => {
      await page.getByText('Signing in …').waitFor();
      await begun;
      await context.clock.runFor(10_000);
      await page.getByText('The identity provider cannot be reached.').waitFor();
      expect(await stored(page, 'assent-token')).toBeNull();
      trouble.clear();
    });
    await page.goto(`${baseUrl}/webhooks`);
    await click(page, 'Sign in');
    await consent(page);
    await page.waitForURL(`${baseUrl}/webhooks`);
    // those of the provider's pages
    messages.length = 0;
    await isIn(page);
    await step(
      'the scopes are those of the provider’s token, nothing else is kept, and no other origin may be asked',
      async () => {
        const contentPolicy = (await fetch(baseUrl)).headers.get('content-security-policy');
        expect(contentPolicy).toContain(`connect-src 'self' ${issuer};`);
        await page.getByRole('link', { name: 'New webhook' }).waitFor();
        expect(await stored(page, 'assent-sign-in')).toBeNull();
        expect(await page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, '']);
        await page.reload();
        await isIn(page);
        expect(messages).toEqual([]);
      },
    );
    await step('where the operator revokes the tokens it ends, and a new sign-in is let in', async () => {
      await page.getByRole('link', { name: /^Assent, overview of/ }).click();
      const operator = createAdministration(dashboard.db, 'operator');
      const { tokensSince } = await operator.revokeTokens(customer.organizationId);
      await page.getByText('The service does not accept this access token.').waitFor();
      expect(await stored(page, 'assent-provider')).toBeNull();
      await eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(tokensSince)));
      await click(page, 'Sign in');
      await consent(page);
      await isIn(page);
    });
    await step('who signs out has to say again who one is', async () => {
      await click(page, 'Sign out');
      await page.waitForURL(`${issuer}/session/end**`);
      await page.getByRole('button', { name: /Yes, sign me out/ }).click();
      await page.waitForURL(`${baseUrl}/`);
      expect(await stored(page, 'assent-token')).toBeNull();
      await click(page, 'Sign in');
      await page.waitForURL(`${issuer}/interaction/**`);
      await page.locator('input[name="login"]').waitFor();
    });
    await step('and may cancel', async () => {
      await page.getByText('[ Cancel ]').click();
      await page.getByText('The sign-in was cancelled.').waitFor();
    });
  });

  /** Until the provider has answered the renewal that begins by then; `letGo` gives the page that answer. */
  const renewing = async ({ page, context }: Visitor, time: number) => {
    let release: (() => Promise<void>) | undefined;
    await page.route(`${issuer}/token`, async (route) => {
      const response = await route.fetch();
      release = () => route.fulfill({ response });
    });
    await context.clock.fastForward(time);
    await eventually(() => expect(release).toBeDefined());
    return async () => {
      const answered = page.waitForResponse(`${issuer}/token`);
      await release?.();
      await answered;
      await afterwards(page);
    };
  };

  it('goes on with a new token when the old one ends, unless the session ends meanwhile, and keeps what is typed', async () => {
    const visitor = await signIn(`/domains/${customer.domains[0]?.domainId}/log`);
    const { page, context } = visitor;
    const field = page.getByRole('searchbox', { name: 'Visitor' });
    await field.fill('half typed');
    const first = await stored(page, 'assent-token');
    expect(first).not.toBeNull();
    const renewals: string[] = [];
    page.on('request', (request) => request.url() === `${baseUrl}/v1/sign-in` && renewals.push(request.url()));
    await context.clock.fastForward(300_000);
    await afterwards(page);
    expect(renewals).toEqual([]);
    // a minute before its end
    await context.clock.fastForward(250_000);
    await eventually(async () => expect(await stored(page, 'assent-token')).not.toBe(first));
    expect(await field.inputValue()).toBe('half typed');
    await step('the page stays also where the service refused the old one first, and asks again', async () => {
      const second = String(await stored(page, 'assent-token'));
      const { exp } = JSON.parse(Buffer.from(second.split('.')[1] ?? '', 'base64url').toString());
      const headers = { date: new Date((exp + 100) * 1000).toUTCString() };
      const answered: number[] = [];
      page.on('response', (answer) => answer.url().includes('/records?') && answered.push(answer.status()));
      await field.evaluate((element) => element.setAttribute('data-mark', ''));
      await page.route('**/records?**', (route) => route.fulfill({ status: 401, headers, json: {} }), { times: 1 });
      await field.press('Enter');
      await eventually(() => expect(answered).toEqual([401, 200]));
      expect(await stored(page, 'assent-token')).not.toBe(second);
      expect(await field.getAttribute('data-mark')).toBe('');
    });
    await step('a session that is signed out while it is renewed stays ended', async () => {
      // by the page's clock the next token ends in 50 s
      const letGo = await renewing(visitor, 45_000);
      // stays on this page
      await page.route(`${issuer}/.well-known/**`, (route) => route.abort());
      await click(page, 'Sign out');
      await page.getByRole('heading', { name: 'Sign in to Assent' }).waitFor();
      await letGo();
      expect(await stored(page, 'assent-token')).toBeNull();
      expect(await stored(page, 'assent-provider')).toBeNull();
    });
  });

  it('asks before a link, or a pasted token, opens a session that is not one’s own, and keeps nothing until then', async () => {
    const other = await dashboard.customer({ name: 'Fabrikam' });
    const token = tokenOf(other.organizationId, 'mara');
    const question = (page: Page) => page.getByRole('heading', { name: 'Open Fabrikam?' }).waitFor();

    const { page } = await dashboard.visit();
    await page.goto(`${baseUrl}/webhooks#token=${token}`);
    await question(page);
    await page.getByText('opens the dashboard of Fabrikam as mara').waitFor();
    expect(await page.evaluate(() => [sessionStorage.length, location.hash])).toEqual([0, '']);
    expect(await violations(page)).toEqual([]);
    await click(page, 'Cancel');
    await page.getByRole('heading', { name: 'Sign in to Assent' }).waitFor();
    await page.getByText('Use an access token').click();
    await page.getByLabel('Access token').fill(token);
    await page.keyboard.press('Enter');
    await question(page);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    await click(page, 'Open Fabrikam');
    await step('and every page then says whose session it is', async () => {
      await page.getByRole('link', { name: /overview of Fabrikam\W+signed in as mara/ }).waitFor();
      expect(page.url()).toBe(`${baseUrl}/webhooks`);
    });
    await step('one’s own session goes on where the link is not wanted, or is refused', async () => {
      const own = await signIn('/webhooks');
      await isIn(own.page);
      const mine = String(await stored(own.page, 'assent-token'));
      for (const [given, answer] of [
        [token, () => question(own.page)],
        ['no.token.atall', () => own.page.getByText('does not accept this access token').waitFor()],
      ] as const) {
        await follow(own.page, given);
        await answer();
        await click(own.page, 'Cancel');
        await isIn(own.page);
        expect(await stored(own.page, 'assent-token')).toBe(mine);
      }
      await step('and the renewal of a session does not touch the one that a link has opened meanwhile', async () => {
        const letGo = await renewing(own, 550_000);
        await follow(own.page, mine);
        await click(own.page, `Open ${customer.name}`);
        await isIn(own.page);
        await letGo();
        expect(await stored(own.page, 'assent-token')).toBe(mine);
        expect(await stored(own.page, 'assent-provider')).toBeNull();
      });
    });
  });

  it('refuses what was replayed, not begun here, or made up', async () => {
    const { page } = await dashboard.regular();
    await page.goto(`${baseUrl}/sign-in?code=stolen&state=made-up`);
    await page.getByText('This sign-in was not begun in this tab, or is over.').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await click(page, 'Sign in');
    await page.waitForURL(`${issuer}/interaction/**`);
    await page.goto(`${baseUrl}/sign-in?code=stolen&state=made-up`);
    await page.getByText('does not belong to this sign-in').waitFor();
    expect(asked.filter((url) => url.endsWith('/token'))).toEqual([]);
    expect(await stored(page, 'assent-token')).toBeNull();
  });

  it('says in words that the provider is away, or answers with a page, or without an end, of which little is read', async () => {
    const { page } = await dashboard.regular();
    await page.route(`${issuer}/**`, (route) => route.abort());
    await page.goto(baseUrl);
    await click(page, 'Sign in');
    await page.getByText('The identity provider cannot be reached.').waitFor();
    await page.getByText('Use an access token').click();
    await page.getByLabel('Access token').waitFor();
    await page.unroute(`${issuer}/**`);
    const discovery = '/.well-known/openid-configuration';
    const noAnswer = page.getByText('The identity provider sent an unusable response.');
    trouble.set(discovery, (_, response) => {
      response.writeHead(200, { ...json, 'content-type': 'text/html' });
      response.end('<h1>Maintenance</h1><script>alert(1)</script>');
    });
    const again = async () => {
      await page.goto(baseUrl);
      await click(page, 'Sign in');
      await noAnswer.waitFor();
    };
    await again();
    await page.getByRole('button', { name: 'Sign in', disabled: false }).first().waitFor();
    let sent = 0;
    let isCut = false;
    trouble.set(discovery, (_, response) => {
      response.writeHead(200, json);
      response.once('close', () => {
        isCut = true;
      });
      const chunk = Buffer.alloc(64 * 1024, ' ');
      const write = () => {
        for (let isTaken = true; isTaken && !isCut; sent += chunk.length) isTaken = response.write(chunk);
        response.once('drain', write);
      };
      write();
    });
    await again();
    await eventually(() => expect(isCut).toBe(true));
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });
});
