/** The service behind a reverse proxy that has it below a path, which it takes off. */
import { request as ask, createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { atEnd } from '../support/at-end.ts';
import { useDashboard } from '../support/browser/dashboard.ts';
import { startApi } from '../support/service.ts';
import { useStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const base = '/own/consent';
const stores = useStores();
const { domainIds, apiKeys } = await makeTenant(stores.db);
const port = await freePort();
const api = await startApi({
  ...stores.env,
  PUBLIC_URL: `http://localhost:${port}${base}/`,
  DEMO_DOMAIN: String(domainIds[0]),
  DEMO_API_KEY: String(apiKeys[0]),
});
/** What was asked for beside the path. */
const astray: string[] = [];
const proxy = createServer((request, response) => {
  const { url = '', method, headers } = request;
  if (!url.startsWith(`${base}/`)) {
    if (url !== '/favicon.ico') astray.push(url);
    return void response.writeHead(404).end();
  }
  const onward = ask(api.baseUrl + url.slice(base.length), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  request.pipe(onward);
});
await new Promise<void>((listening) => proxy.listen(port, () => listening()));
atEnd(() => {
  proxy.closeAllConnections();
  proxy.close();
});
const baseUrl = `http://localhost:${port}${base}`;
const dashboard = useDashboard({ api: { ...api, baseUrl } });

it('the dashboard works there, from its first page to a reload of another one, and links lead nowhere else', async () => {
  const customer = await dashboard.customer();
  const { page, messages } = await dashboard.openNew(customer);
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  await heading('Overview');
  const { domainId = '', name = '' } = customer.domains[0] ?? {};
  await page.getByRole('link', { name }).first().click();
  await page.waitForURL(`${baseUrl}/domains/${domainId}*`);
  await page.reload();
  await heading(name);
  await page.goto(`${baseUrl}/domains/${domainId}/widget`);
  const stage = page.frameLocator('iframe[title="The banner as visitors see it"]');
  await stage.getByRole('button').first().waitFor();
  expect(await page.locator('body').textContent()).toContain(`src="${baseUrl}/widget.js"`);
  const links = await page.locator('a[href^="/"]').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter((link) => !link?.startsWith(`${base}/`))).toEqual([]);
  await page.goto(`${baseUrl}/nowhere`);
  await page.getByRole('link', { name: 'Go to the dashboard' }).click();
  await heading('Overview');
  expect([messages.filter((message) => !message.includes('404')), astray]).toEqual([[], []]);
});

it('the reference has its style, the demo shop its banner, and proofs are checked', async () => {
  const { page } = await dashboard.visit();
  const isStyled = (of: Page) =>
    of.evaluate(() => document.styleSheets.length > 0 && document.styleSheets[0]?.cssRules.length);
  await page.goto(`${baseUrl}/docs`);
  expect(await isStyled(page)).toBeGreaterThan(0);
  expect((await page.request.get(new URL('openapi.json', page.url()).href)).status()).toBe(200);
  const document = await (await fetch(`${baseUrl}/openapi.json`)).json();
  expect(document.servers).toEqual([{ url: `${base}/` }]);
  await page.goto(`${baseUrl}/verify`);
  await page.getByRole('heading', { name: 'Check a proof' }).waitFor();
  await page.goto(`${baseUrl}/demo`);
  expect(await isStyled(page)).toBeGreaterThan(0);
  const recorded = page.waitForResponse((answer) => answer.url().endsWith('/record') && answer.status() === 202);
  const shown = page.waitForResponse((answer) => answer.url().includes(`${base}/demo/records/`));
  await page.getByRole('button', { name: 'Accept all' }).click();
  expect((await recorded).url()).toBe(`${baseUrl}/v1/consent/${domainIds[0]}/record`);
  expect((await shown).status()).toBe(200);
  expect(astray).toEqual([]);
});
