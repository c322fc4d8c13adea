/** People with an account in the dashboard: how they get in, what they change, and what they see of each other. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Scope } from '#libs/base/terms/terms';
import { createPerform, partOf } from '#libs/tenants/audited-change';
import { peopleChanges } from '#libs/tenants/organization-people';
import { freePort } from '../../scripts/stack/ports.ts';
import { afterwards, click, step } from '../support/browser/browser.ts';
import { follow, useDashboard } from '../support/browser/dashboard.ts';
import { look } from '../support/browser/look.ts';
import { createCli } from '../support/cli.ts';
import { accountSettings, addAccount, invite, password, someone } from '../support/people.ts';
import { startApi, startWorker } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';

const stores = await openStores();
const port = await freePort();
const home = `http://localhost:${port}`;
const env = { ...stores.env, PUBLIC_URL: home };
const { db, sql } = stores;
const api = { ...(await startApi({ ...env, PORT: String(port), FAILURE_RATE_PER_MINUTE: '1000' })), baseUrl: home };
await startWorker(env);
const cli = createCli(env);
const dashboard = useDashboard({ ...stores, api });
const customer = await dashboard.customer({ name: 'Northwind Outdoor' });
const { organizationId } = customer;
const domainPath = `/domains/${at(customer.domains, 0).domainId}`;

const next = 'six loud kettles in april';
const fill = async (page: Page, fields: Record<string, string>) => {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
};
const isAt = (page: Page, heading: string | RegExp) => page.getByRole('heading', { name: heading, level: 1 }).waitFor();
const signInAs = async (page: Page, email: string, given = password) => {
  await isAt(page, 'Sign in to Assent');
  await fill(page, { 'E-mail': email, Password: given });
  await click(page, 'Sign in');
};
/** Somebody with an account, signed in at this page. */
const arrive = async (path = '/', scopes: Scope[] = ['read', 'manage'], given = {}, hasClock = false) => {
  const who = await addAccount(db, { organizationId, scopes, ...given });
  const visitor = await dashboard.visit();
  if (hasClock) await visitor.context.clock.install();
  await visitor.context.addCookies([{ name: `assent_${port}`, value: String(who.secret), url: home, httpOnly: true }]);
  await visitor.page.goto(home + path);
  return { ...visitor, ...who };
};
const openMenu = (page: Page) => page.getByRole('button', { name: 'Ann Example' }).click();
const rowOf = (page: Page, who: string) =>
  page.getByRole('list', { name: 'People' }).getByRole('listitem').filter({ hasText: who });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.tagName);
const change = <T>(work: (changes: ReturnType<typeof peopleChanges>) => Promise<T>) =>
  createPerform(db, 'test')((perform, note) => work(peopleChanges(partOf(perform, note))));

describe('the first start', () => {
  it('says why it does not go on, keeps what was typed, and works once', async () => {
    const { page } = await dashboard.visit();
    await page.goto(`${home}/setup`);
    await page.getByText('This page needs the link').waitFor();
    const { setupUrl } = await cli.json<{ setupUrl: string }>('setup');
    const fields = {
      Organization: 'Contoso',
      'Your name': 'Cleo',
      'E-mail': 'cleo@contoso.example',
      Password: 'password1234',
    };
    const again = async (changed: Record<string, string>, told: string | RegExp) => {
      await fill(page, changed);
      await page.getByRole('button', { name: /^Create/ }).click();
      await page.getByRole('alert').getByText(told).waitFor();
    };
    await page.goto(setupUrl);
    await page.reload();
    await again({ ...fields, 'Its address': 'our website' }, 'Not an address of a website');
    await again({ 'Its address': 'www.contoso.example' }, 'It is similar to an often used password.');
    await look(page, 'setup');
    await again({ Password: password, 'E-mail': 'cleo' }, 'It must be an address such as');
    await fill(page, { 'E-mail': fields['E-mail'] });
    await page.getByRole('button', { name: /^Create/ }).click();
    await isAt(page, 'Widget');
    await page.getByText('The banner: choose its colours').waitFor();
    await expect.poll(() => page.getByLabel('Who asks').inputValue()).toBe('Contoso');
    expect(await page.getByText('does not say who asks').count()).toBe(0);
    await page.getByText('Records are taken from https://www.contoso.example only').waitFor();
    await step('and a second time not', async () => {
      await page.goto('about:blank');
      await page.goto(setupUrl);
      await again({ ...fields, Password: password, 'Its address': 'www.contoso.example' }, 'This link was used');
    });
  });
});

describe('signing in with a password', () => {
  it('opens a session for all tabs, which no script can read, and leads back to where one was', async () => {
    const { email } = await addAccount(db, { organizationId });
    const { page, context } = await dashboard.visit();
    await page.goto(`${home}${domainPath}/log`);
    await isAt(page, 'Sign in to Assent');
    await look(page, 'sign-in-password');
    await signInAs(page, email, 'something else');
    await page.getByRole('alert').getByText('The address or the password is wrong.').waitFor();
    await signInAs(page, email);
    await isAt(page, 'Log');
    expect(page.url()).toBe(`${home}${domainPath}/log`);
    expect(
      await page.evaluate(() => [localStorage.length, sessionStorage.getItem('assent-token'), document.cookie]),
    ).toEqual([0, null, '']);
    await page.reload();
    await isAt(page, 'Log');
    const other = await context.newPage();
    await other.goto(home);
    await isAt(other, 'Overview');
    await openMenu(other);
    await click(other, 'Sign out');
    await other.getByText('You are signed out.').waitFor();
    await page.getByText('Your session has ended').waitFor();
  });

  it('goes on with a new token before the old one ends, and says so where the session has ended', async () => {
    const { page, context, email } = await arrive(domainPath, ['read'], {}, true);
    await isAt(page, 'Statistics');
    const renewed = page.waitForResponse((response) => response.url().endsWith('/renew') && response.status() === 200);
    await context.clock.fastForward(245_000);
    await renewed;
    await afterwards(page);
    await isAt(page, 'Statistics');
    await sql`delete from person_sessions where person_number = (select number from people where email = ${email})`;
    await context.clock.fastForward(245_000);
    await page.getByText('Your session has ended').waitFor();
    await signInAs(page, email);
    await isAt(page, 'Statistics');
    expect(page.url()).toContain(home + domainPath);
  });

  it('says that somebody has tried too often', async () => {
    const email = someone();
    const { page } = await dashboard.visit();
    await page.goto(home);
    await fill(page, { 'E-mail': email, Password: 'guessed' });
    for (let failures = 0; failures <= 10; failures += 1) {
      const answered = page.waitForResponse('**/v1/sign-in/password');
      await click(page, 'Sign in');
      await answered;
      await page.getByRole('alert').waitFor();
    }
    await page.getByRole('alert').getByText('Too many failed attempts; try again in 15 minutes').waitFor();
  });

  it('is for the address of the installation, which a page under another name leads to', async () => {
    const elsewhere = await startApi({ ...stores.env, ...accountSettings });
    const { page } = await dashboard.visit();
    await page.goto(`${elsewhere.baseUrl}/invitation#invite=abc`);
    const link = page.getByRole('link', { name: accountSettings.PUBLIC_URL });
    expect(await link.getAttribute('href')).toBe(`${accountSettings.PUBLIC_URL}/invitation#invite=abc`);
    await page.goto(elsewhere.baseUrl);
    await link.waitFor();
    await page.getByLabel('Access token').waitFor();
    expect(await page.getByLabel('Password').count()).toBe(0);
  });

  it('has a link with a token ask first, before and after', async () => {
    const other = await dashboard.customer({ name: 'Fabrikam' });
    const { page } = await arrive();
    await isAt(page, 'Overview');
    await follow(page, other.token);
    await isAt(page, 'Open Fabrikam?');
    await click(page, 'Cancel');
    await page.getByRole('link', { name: /overview of Northwind/ }).waitFor();
    await page.goto('about:blank');
    await page.goto(`${home}/#token=${other.token}`);
    await click(page, 'Open Fabrikam');
    await page.getByRole('link', { name: /overview of Fabrikam/ }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: /overview of Fabrikam/ }).waitFor();
  });
});

describe('a link', () => {
  const open = async (link: string) => {
    const { page } = await dashboard.visit();
    await page.goto(link);
    return page;
  };
  const linkFor = async (email: string, organization = organizationId) =>
    `${home}/invitation#invite=${await invite(db, organization, email, ['read'])}`;
  const acceptAs = async (page: Page, given = password) => {
    await fill(page, { 'Your name': 'Bea', Password: given });
    await click(page, 'Create the account');
  };

  it('of an invitation makes an account, once', async () => {
    const link = await linkFor(someone());
    const page = await open(link);
    await acceptAs(page, 'password1234');
    await page.getByRole('alert').getByText('It is').waitFor();
    await look(page, 'invitation');
    await acceptAs(page);
    await isAt(page, 'Overview');
    expect(page.url()).toBe(`${home}/`);
    const late = await open(link);
    await acceptAs(late);
    await late.getByText('This link was used or replaced, or has expired: ask for a new one.').waitFor();
  });

  it('of an invitation is added to an account, which signs in first where it has not', async () => {
    const other = await dashboard.customer({ name: 'Fabrikam' });
    const { email } = await addAccount(db, { organizationId });
    const page = await open(await linkFor(email, other.organizationId));
    await acceptAs(page);
    await page.getByText('You have an account already.').waitFor();
    await fill(page, { 'E-mail': email, Password: password });
    await click(page, 'Sign in');
    await page.getByText(`You are signed in as ${email}`).waitFor();
    await look(page, 'invitation-accept');
    await click(page, 'Accept');
    await page.getByRole('link', { name: /overview of Fabrikam/ }).waitFor();
    await page.getByText('Fabrikam is added to your account.').waitFor();
    await step('and the person then switches between the two', async () => {
      await openMenu(page);
      await look(page, 'account-menu');
      await click(page, 'Northwind Outdoor');
      await page.getByRole('link', { name: /overview of Northwind/ }).waitFor();
      expect(await page.getByText('You are now signed in to').count()).toBe(0);
      await page.reload();
      await page.getByRole('link', { name: /overview of Northwind/ }).waitFor();
    });
    await step('and stays in the other one where the rights in this one end', async () => {
      const [{ id }] =
        (await sql`select id from organization_people where organization_id = ${organizationId} and person_number = (select number from people where email = ${email})`) as unknown as [
          { id: string },
        ];
      await change((changes) => changes.removePerson(organizationId, id));
      await page.getByText('You no longer belong to Northwind Outdoor. You are now signed in to Fabrikam.').waitFor();
    });
  });

  it('of the operator asks for a new password alone', async () => {
    const { email } = await addAccount(db, { organizationId });
    const { resetUrl } = await cli.json<{ resetUrl: string }>('person', 'reset', email);
    const page = await open(resetUrl);
    await isAt(page, 'Set a new password');
    await fill(page, { Password: next });
    await click(page, 'Set the password');
    await isAt(page, 'Overview');
    await openMenu(page);
    await click(page, 'Sign out');
    await signInAs(page, email, next);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
});

describe('one’s own account', () => {
  it('has a name and a password, which is changed with the old one, and is signed out everywhere', async () => {
    const { page, email } = await arrive();
    const elsewhere = await dashboard.visit();
    await elsewhere.page.goto(home);
    await signInAs(elsewhere.page, email);
    await isAt(elsewhere.page, 'Overview');
    await openMenu(page);
    await page.getByRole('link', { name: 'My account' }).click();
    await fill(page, { 'Your name': 'Ann Brown' });
    await click(page, 'Save');
    await page.getByRole('button', { name: 'Ann Brown' }).waitFor();
    await look(page, 'account');
    const change = async (old: string, given: string, told: string) => {
      await fill(page, { 'Old password': old, 'New password': given });
      await click(page, 'Change the password');
      await page.getByText(told).waitFor();
    };
    await change('not this one', next, 'The old password is wrong.');
    await change(password, 'password1234', 'often used password');
    await change(password, next, 'Your password is changed.');
    await elsewhere.page.reload();
    await signInAs(elsewhere.page, email, next);
    await isAt(elsewhere.page, 'Overview');
    await click(page, 'Sign out everywhere');
    await page.getByText('You are signed out.').waitFor();
    await elsewhere.page.reload();
    await isAt(elsewhere.page, 'Sign in to Assent');
  });
});

describe('people of an organization', () => {
  it('are invited, get other rights and are removed by those who may, and nobody gives what they lack', async () => {
    const own = await dashboard.customer({ name: 'Tailspin' });
    const { page, email: mine } = await arrive('/people', ['read', 'manage'], { organizationId: own.organizationId });
    await isAt(page, 'People');
    const email = someone();
    await fill(page, { 'E-mail': 'nobody' });
    await click(page, 'Create a link');
    await page.getByRole('alert').getByText('It must be an address').waitFor();
    await fill(page, { 'E-mail': email });
    expect(await page.getByLabel('Import records').isDisabled()).toBe(true);
    await click(page, 'Create a link');
    const link = page.getByRole('region', { name: 'Invitation' });
    const first = await link.textContent();
    expect(first).toMatch(`${home}/invitation#invite=`);
    await rowOf(page, email).getByText('Invited', { exact: true }).waitFor();
    await look(page, 'people');
    await fill(page, { 'E-mail': email });
    await click(page, 'Create a link');
    await page
      .getByRole('alert')
      .getByText('has invited, somebody with this address')
      .or(page.getByText('belongs to your organization'))
      .waitFor();
    await rowOf(page, email)
      .getByRole('button', { name: /^New link/ })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create a link' }).click();
    await expect.poll(() => link.textContent()).not.toBe(first);
    await click(page, 'Done');
    await expect.poll(() => focused(page)).toBe('H1');
    await step('somebody who was invited elsewhere appears by themselves', async () => {
      const other = someone();
      await invite(db, own.organizationId, other, ['read']);
      await rowOf(page, other).waitFor();
    });
    await rowOf(page, email)
      .getByRole('button', { name: /^Change/ })
      .click();
    await look(page, 'people-change');
    await page.getByRole('dialog').getByLabel('Change and publish banners').isDisabled();
    await page.getByRole('dialog').getByLabel('Manage domains').check();
    await click(page, 'Save');
    await rowOf(page, email).getByText('Manage domains').waitFor();
    await step('the last one who manages stays', async () => {
      await rowOf(page, mine)
        .getByRole('button', { name: /^Remove/ })
        .click();
      await click(page, 'Remove');
      await page.getByRole('alert').getByText('Nobody else in your organization may manage domains').waitFor();
      await click(page, 'Cancel');
    });
    await rowOf(page, email)
      .getByRole('button', { name: /^Remove/ })
      .click();
    await click(page, 'Withdraw');
    await rowOf(page, email).waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('H1');
    await step('and the activity has their names, also of those who are gone', async () => {
      await page.getByRole('link', { name: 'Activity' }).click();
      await page.getByRole('list').getByText(`Removed ${email}`).waitFor();
      await page.getByRole('listitem').getByText('Ann Example').first().waitFor();
      await fill(page, { Who: mine });
      await click(page, 'Find');
      await page.waitForURL(/actor=/);
      await page.getByRole('list').getByText(`Removed ${email}`).waitFor();
    });
  });

  it('lose rights within a second, on every page that is open', async () => {
    const { page, personId, email } = await arrive(`${domainPath}/settings`);
    await isAt(page, 'Settings');
    await change((changes) => changes.setScopes(organizationId, personId, ['read']));
    await page.getByText('You may not open this page').waitFor();
    await page.getByText('Ask somebody who manages your organization').waitFor();
    await page.getByRole('link', { name: 'Log', exact: true }).waitFor();
    await change((changes) => changes.setScopes(organizationId, personId, ['read', 'manage']));
    await isAt(page, 'Settings');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    const removed = Date.now();
    await change((changes) => changes.removePerson(organizationId, personId));
    await sql`delete from people where email = ${email}`;
    await page.getByText('Your session has ended, or your access was removed.').waitFor();
    expect(Date.now() - removed).toBeLessThan(2_000);
    expect(await page.locator('body').textContent()).not.toContain(customer.name);
  });
});
