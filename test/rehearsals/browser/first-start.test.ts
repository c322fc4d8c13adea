/** What a new user does in the browser alone after `npm start` on a fresh clone, each action counted. */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useBrowser } from '../../support/browser/browser.ts';
import { startSite } from '../../support/browser/site.ts';
import { startCheckout } from '../../support/checkout.ts';

const checkout = await startCheckout();
const visit = useBrowser();
const site = await startSite();

/** What the user does: opens a page, clicks, or fills in one field; each counts as one. */
const done: string[] = [];
const act = async (what: string, work: Promise<unknown>) => {
  await work;
  done.push(what);
};
const open = (page: Page, address: string) => act(`open ${address.replace(/[?#].*/, '')}`, page.goto(address));
const press = (button: Locator) => act(`press ${String(button)}`, button.click());
const fill = (page: Page, label: string, text: string) =>
  act(`fill in ${label}`, page.getByLabel(label, { exact: true }).fill(text));
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name });

const password = 'four quiet lamps in may';

it('leads from the printed link to the first record, a colleague and a second organization in 25 actions', async () => {
  const [, setup = ''] = /Set up +(\S+)/.exec(checkout.output) ?? [];
  const { page } = await visit();
  await open(page, setup);
  await fill(page, 'Organization', 'Northwind Outdoor');
  await fill(page, 'Your name', 'Ann Example');
  await fill(page, 'E-mail', 'ann@northwind.example');
  await fill(page, 'Password', password);
  await fill(page, 'Its address', site.origin);
  await press(button(page, 'Create and go on to the banner'));

  await press(page.getByText('Colours', { exact: true }));
  await fill(page, 'Background', '#fff4e0');
  await press(button(page, 'Publish…'));
  await press(button(page, /^Publish$/));
  const published = page.getByRole('dialog', { name: 'Version 1 is live' });
  const tag = await published.getByRole('region', { name: 'Script tag' }).textContent();
  await press(published.getByRole('button', { name: 'Close' }));

  // the tag is put into the page with an editor
  const shop = site.add('/', `<!doctype html><html lang="en"><title>Shop</title>${tag}<h1>Shop</h1>`);
  const visitor = await visit();
  await open(visitor.page, shop);
  const banner = visitor.page.getByRole('dialog');
  await banner.waitFor();
  expect(await banner.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe('rgb(255, 244, 224)');
  await press(button(visitor.page, 'Accept all'));
  await page.getByRole('heading', { name: 'The site records' }).waitFor();

  await press(link(page, /overview of Northwind/));
  await press(link(page, 'People'));
  await fill(page, 'E-mail', 'bob@northwind.example');
  await press(button(page, 'Create a link'));
  const invitation = await page.getByRole('region', { name: 'Invitation' }).textContent();
  const colleague = await visit();
  await open(colleague.page, String(invitation));
  await fill(colleague.page, 'Your name', 'Bob Builder');
  await fill(colleague.page, 'Password', 'six loud kettles in april');
  await press(button(colleague.page, 'Create the account'));
  await link(colleague.page, /overview of Northwind/).waitFor();

  const env = { PUBLIC_URL: checkout.demo.baseUrl };
  const run = async (command: string) => {
    const { code, output } = await checkout.shell(`npm run -s assent -- ${command}`, env);
    expect(code, output).toBe(0);
    return output;
  };
  const { organizationId } = JSON.parse(await run('org create Fabrikam --json'));
  await run(`person create ann@northwind.example --org ${organizationId} --scope 'read manage'`);
  await press(button(page, /^Ann Example$/));
  await press(button(page, 'Fabrikam'));
  await link(page, /overview of Fabrikam/).waitFor();

  expect(done.length, done.join('\n')).toBeLessThanOrEqual(25);
});
