/** Signing in to the dashboard with a real OpenID Connect provider. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { createAdministration } from '#libs/store/tenants/administration';
import { freePort } from '../../scripts/stack/ports.ts';
import { atEnd } from '../support/at-end.ts';
import { click, useBrowser } from '../support/browser/browser.ts';
import { type Customer, makeCustomer, type Running, useService } from '../support/browser/dashboard.ts';
import { startApi } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const audience = 'https://assent.example/api';

/** What the provider puts into access tokens, and for how long they are good. */
interface Policy {
  org: string;
  audience: string;
  seconds: number;
}

/** `trouble`: what answers in place of the provider, by path. */
async function startProvider(redirectTo: string, policy: Policy) {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const configuration: Configuration = {
    clients: [
      {
        client_id: 'dashboard',
        token_endpoint_auth_method: 'none',
        redirect_uris: [`${redirectTo}/sign-in`],
        post_logout_redirect_uris: [`${redirectTo}/`],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    scopes: ['openid', 'offline_access', 'read', 'manage'],
    clientBasedCORS: () => true,
    extraTokenClaims: () => ({ org: policy.org }),
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'read manage',
          audience: policy.audience,
          accessTokenFormat: 'jwt',
          accessTokenTTL: policy.seconds,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  };
  const provider = new Provider(issuer, configuration).callback();
  const trouble = new Map<string, RequestListener>();
  server.on('request', (request, response) =>
    (trouble.get(request.method === 'OPTIONS' ? '' : (request.url ?? '')) ?? provider)(request, response),
  );
  return { issuer, trouble };
}

describe('signing in with a provider', () => {
  const visit = useBrowser();
  let running: Running;
  let customer: Customer;
  let baseUrl: string;
  let issuer: string;
  let trouble: Map<string, RequestListener>;
  const policy: Policy = { org: '', audience, seconds: 600 };

  beforeAll(async () => {
    running = useService();
    customer = await makeCustomer(running.db);
    policy.org = customer.organizationId;
    const port = String(await freePort());
    ({ issuer, trouble } = await startProvider(`http://127.0.0.1:${port}`, policy));
    const api = await startApi({
      ...running.env,
      PORT: port,
      JWT_ALGORITHM: 'RS256',
      JWT_JWKS_URL: `${issuer}/jwks`,
      JWT_ISSUER: issuer,
      JWT_AUDIENCE: audience,
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: 'dashboard',
      OIDC_SCOPES: 'openid offline_access read manage',
      OIDC_AUDIENCE: audience,
    });
    ({ baseUrl } = api);
  }, 60_000);

  /** At the provider: who one is, and that the dashboard may know. */
  const identify = async (page: Page) => {
    await page.waitForURL(`${issuer}/interaction/**`);
    await page.locator('input[name="login"]').fill('mara');
    await page.locator('input[name="password"]').fill('any');
    await page.locator('button[type="submit"]').click();
    await consent(page);
  };
  const consent = async (page: Page) => {
    await page.getByText('Authorize').first().waitFor();
    await page.locator('button[type="submit"]').click();
  };
  const signIn = async (path = '/') => {
    const visitor = await visit();
    await visitor.page.goto(baseUrl + path);
    await click(visitor.page, 'Sign in');
    await identify(visitor.page);
    return visitor;
  };
  const isIn = (page: Page) => page.getByText(customer.name).first().waitFor();
  const stored = (page: Page, key: string) => page.evaluate((name) => sessionStorage.getItem(name), key);

  it('leads to the provider and back to where one was, and nothing of it is left in the address', async () => {
    const { page, messages } = await signIn('/webhooks');
    await page.waitForURL(`${baseUrl}/webhooks`);
    // those of the provider's pages
    messages.length = 0;
    await isIn(page);
    // the scopes of the provider's token
    await page.getByRole('link', { name: 'New webhook' }).waitFor();
    expect(await stored(page, 'assent-sign-in')).toBeNull();
    expect(await page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, '']);
    await page.reload();
    await isIn(page);
    expect(messages).toEqual([]);
  });

  it('may talk to the provider and to nobody else', async () => {
    const response = await fetch(baseUrl);
    expect(response.headers.get('content-security-policy')).toContain(`connect-src 'self' ${issuer};`);
    expect(response.headers.get('content-security-policy')).not.toContain('unsafe-inline');
    const { body } = { body: await (await fetch(`${baseUrl}/v1/sign-in`)).json() };
    expect(body).toEqual({
      oidc: { issuer, clientId: 'dashboard', scopes: ['openid', 'offline_access', 'read', 'manage'], audience },
    });
  });

  it('goes on with a new token when the old one ends, without losing what is typed', async () => {
    policy.seconds = 6;
    try {
      const { page } = await signIn(`/domains/${customer.domains[0]?.domainId}/log`);
      const field = page.getByRole('searchbox', { name: 'Visitor' });
      await field.fill('half typed');
      const first = await stored(page, 'assent-token');
      expect(first).not.toBeNull();
      await eventually(async () => expect(await stored(page, 'assent-token')).not.toBe(first), { within: 20_000 });
      expect(await field.inputValue()).toBe('half typed');
    } finally {
      policy.seconds = 600;
    }
  });

  it('ends where the operator revokes the tokens, and a new sign-in is let in', async () => {
    const { page } = await signIn();
    await isIn(page);
    const { tokensSince } = await createAdministration(running.db, 'operator').revokeTokens(customer.organizationId);
    await page.getByText('The service does not accept this access token.').waitFor({ timeout: 20_000 });
    expect(await stored(page, 'assent-provider')).toBeNull();
    await eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(tokensSince)));
    await click(page, 'Sign in');
    await consent(page);
    await isIn(page);
  });

  it('signs out at the provider, too', async () => {
    const { page } = await signIn();
    await isIn(page);
    await click(page, 'Sign out');
    await page.waitForURL(`${issuer}/session/end**`);
    await page.getByRole('button', { name: /Yes, sign me out/ }).click();
    await page.waitForURL(`${baseUrl}/`);
    expect(await stored(page, 'assent-token')).toBeNull();
    // who one is has to be said again
    await click(page, 'Sign in');
    await page.waitForURL(`${issuer}/interaction/**`);
    await page.locator('input[name="login"]').waitFor();
  });

  it('refuses what was replayed, not begun here, or made up', async () => {
    const { page } = await visit();
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

  it('says that it was cancelled', async () => {
    const { page } = await visit();
    await page.goto(baseUrl);
    await click(page, 'Sign in');
    await page.waitForURL(`${issuer}/interaction/**`);
    await page.getByText('[ Cancel ]').click();
    await page.getByText('The sign-in was cancelled.').waitFor();
  });

  it('a token for somebody else opens nothing', async () => {
    policy.audience = 'https://other.example/api';
    try {
      const { page } = await signIn();
      await page.getByText('The service does not accept this access token.').waitFor({ timeout: 20_000 });
    } finally {
      policy.audience = audience;
    }
  });

  it('a provider that is away is said, and access tokens are left', async () => {
    const { page } = await visit();
    await page.route(`${issuer}/**`, (route) => route.abort());
    await page.goto(baseUrl);
    await click(page, 'Sign in');
    await page.getByText('The identity provider cannot be reached.').waitFor();
    await page.getByText('Use an access token').click();
    await page.getByLabel('Access token').waitFor();
  });

  describe('a provider in trouble is said in words', () => {
    const discovery = '/.well-known/openid-configuration';
    const readable = { 'access-control-allow-origin': '*' };
    const json = { ...readable, 'content-type': 'application/json' };
    const during = async (path: string, answer: RequestListener, work: () => Promise<void>) => {
      trouble.set(path, answer);
      try {
        await work();
      } finally {
        trouble.clear();
      }
    };
    const leave = async () => {
      const { page } = await visit();
      await page.goto(baseUrl);
      await click(page, 'Sign in');
      return page;
    };
    const noAnswer = 'The identity provider sent something else than an answer.';

    it('that answers with a page', () =>
      during(
        discovery,
        (_, response) => {
          response.writeHead(200, { ...readable, 'content-type': 'text/html' });
          response.end('<h1>Maintenance</h1><script>alert(1)</script>');
        },
        async () => {
          const page = await leave();
          await page.getByText(noAnswer).waitFor();
          await page.getByRole('button', { name: 'Sign in', disabled: false }).first().waitFor();
        },
      ));

    it('that answers with 64 MB, of which little is read', async () => {
      const all = 64 * 1024 * 1024;
      let sent = 0;
      let isCut = false;
      await during(
        discovery,
        (_, response) => {
          response.writeHead(200, json);
          const chunk = Buffer.alloc(64 * 1024, ' ');
          const write = () => {
            while (sent < all) {
              sent += chunk.length;
              if (!response.write(chunk)) return void response.once('drain', write);
            }
            response.end('{}');
          };
          response.once('close', () => {
            isCut = !response.writableFinished;
          });
          write();
        },
        async () => {
          const page = await leave();
          await page.getByText(noAnswer).waitFor();
          await eventually(() => expect(isCut).toBe(true));
          expect(sent).toBeLessThan(all / 2);
        },
      );
    });

    it('that begins to answer and never ends', () =>
      during(
        '/token',
        (_, response) => {
          response.writeHead(200, json);
          response.write('{');
        },
        async () => {
          const { page } = await signIn();
          await page.getByText('Signing in …').waitFor();
          await page.getByText('The identity provider cannot be reached.').waitFor({ timeout: 20_000 });
          expect(await stored(page, 'assent-token')).toBeNull();
          await page.getByRole('button', { name: 'Sign in' }).first().waitFor();
        },
      ));
  });
});
