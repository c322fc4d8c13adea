/** All pages of the service below a path of a host that serves other things, too. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { eventually } from '../wait.ts';
import { crumb } from './browser.ts';
import type { Dashboard } from './dashboard.ts';

/** From its first page to a reload of another one; links lead nowhere else. */
export async function dashboardWorks(dashboard: Dashboard, baseUrl: string): Promise<void> {
  const base = new URL(baseUrl).pathname;
  const customer = await dashboard.customer();
  const { page, messages } = await dashboard.open(customer);
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  // with accounts, a link with a token asks first
  const asks = page.getByRole('button', { name: /^Open / });
  await asks.or(page.getByRole('heading', { name: 'Overview', level: 1 })).waitFor();
  if (await asks.isVisible()) await asks.click();
  await heading('Overview');
  const { domainId = '', name = '' } = customer.domains[0] ?? {};
  await page.getByRole('link', { name }).first().click();
  await page.waitForURL(`${baseUrl}/domains/${domainId}*`);
  await page.reload();
  await crumb(page, name).waitFor();
  // the page asks for its origin after it is shown
  await eventually(async () =>
    expect(await page.locator('body').textContent()).toContain(`'${baseUrl}/v1/consent/${domainId}/record'`),
  );
  await page.goto(`${baseUrl}/domains/${domainId}/widget`);
  const stage = page.frameLocator('iframe[title="The banner as visitors see it"]');
  await stage.getByRole('button').first().waitFor();
  // the page has the texts from the service, and hands them to the preview
  await page.getByRole('combobox', { name: 'Language', exact: true }).selectOption('fi');
  await stage.getByRole('button', { name: 'Hyväksy kaikki' }).waitFor();
  expect(await page.locator('body').textContent()).toContain(`src="${baseUrl}/w/${domainId}.js"`);
  const links = await page.locator('a[href^="/"]').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter((link) => !link?.startsWith(`${base}/`))).toEqual([]);
  await page.goto(`${baseUrl}/nowhere`);
  await page.getByRole('link', { name: 'Go to the dashboard' }).click();
  await heading('Overview');
  expect(messages.filter((message) => !message.includes('404'))).toEqual([]);
}

/** The reference has its style, proofs are checked, and the demo shop of that domain records. */
export async function otherPagesWork({ visit }: Dashboard, baseUrl: string, domainId: string): Promise<void> {
  const { page } = await visit();
  const isStyled = (of: Page) =>
    of.evaluate(() => document.styleSheets.length > 0 && document.styleSheets[0]?.cssRules.length);
  await page.goto(`${baseUrl}/docs`);
  expect(await isStyled(page)).toBeGreaterThan(0);
  expect(await page.locator('main').textContent()).toContain(`$API is ${baseUrl},`);
  expect((await page.request.get(new URL('openapi.json', page.url()).href)).status()).toBe(200);
  const document = await (await fetch(`${baseUrl}/openapi.json`)).json();
  expect(document.servers).toEqual([{ url: `${baseUrl}/` }]);
  await page.goto(`${baseUrl}/verify`);
  await page.getByRole('heading', { name: 'Check a proof' }).waitFor();
  await page.goto(`${baseUrl}/demo`);
  expect(await isStyled(page)).toBeGreaterThan(0);
  const recorded = page.waitForResponse((response) => response.url().endsWith('/record') && response.status() === 202);
  const shown = page.waitForResponse((response) => response.url().startsWith(`${baseUrl}/demo/records/`));
  await page.evaluate(() => window.assent?.setLanguage('fi'));
  await page.getByRole('button', { name: 'Hyväksy kaikki' }).click();
  expect((await recorded).url()).toBe(`${baseUrl}/v1/consent/${domainId}/record`);
  expect((await shown).status()).toBe(200);
}
