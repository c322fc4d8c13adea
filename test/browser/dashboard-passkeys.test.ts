/** Passkeys in the dashboard, with an authenticator that Chromium itself stands in for. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { click } from '../support/browser/browser.ts';
import { useDashboard } from '../support/browser/dashboard.ts';
import { look } from '../support/browser/look.ts';
import { addAccount, password } from '../support/people.ts';
import { startApi } from '../support/service.ts';
import { openStores } from '../support/stack.ts';

const stores = await openStores();
const port = await freePort();
const home = `http://localhost:${port}`;
const { db, sql } = stores;
const api = { ...(await startApi({ ...stores.env, PUBLIC_URL: home, PORT: String(port) })), baseUrl: home };
const dashboard = useDashboard({ ...stores, api });
const { organizationId } = await dashboard.customer({ name: 'Northwind Outdoor' });

/** Somebody with an account, at its page, with a device that has no passkeys yet. */
async function arrive() {
  const who = await addAccount(db, { organizationId, scopes: ['read', 'manage'] });
  const { page, context } = await dashboard.visit();
  await context.addCookies([{ name: `assent_${port}`, value: String(who.secret), url: home, httpOnly: true }]);
  const device = await context.newCDPSession(page);
  await device.send('WebAuthn.enable');
  const options = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true };
  const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true, ...options },
  });
  const recognize = (isUserVerified: boolean) =>
    device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  await page.goto(`${home}/account`);
  await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
  return { ...who, page, context, recognize };
}

const rows = (page: Page) => page.getByRole('list', { name: 'Passkeys' }).getByRole('listitem');
const add = async (page: Page, name: string) => {
  await page.getByLabel('Name of the passkey').fill(name);
  await click(page, 'Add a passkey');
};
const confirm = (page: Page, action: string) => page.getByRole('dialog').getByRole('button', { name: action }).click();
const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).last().click();
const isSignedIn = (page: Page) => page.getByRole('heading', { name: 'My account', level: 1 }).waitFor();

it('a passkey is added, signs in without a password, and is removed', async () => {
  const { page, email } = await arrive();
  await add(page, 'Ann’s laptop');
  await rows(page)
    .getByText(/^Added .* · not used yet$/)
    .waitFor();
  await look(page, 'passkeys');
  await click(page, 'Switch the password off…');
  await confirm(page, 'Switch off');
  await page.getByText('Your password is switched off.').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Change the password' }).count()).toBe(0);
  await signOut(page);
  await page.getByText('You are signed out.').waitFor();
  await look(page, 'sign-in-passkey');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await click(page, 'Sign in');
  await page.getByText('The address or the password is wrong.').waitFor();
  await click(page, 'Sign in with a passkey');
  await isSignedIn(page);
  await rows(page)
    .getByText(/last used/)
    .waitFor();
  await page.getByRole('button', { name: 'Remove… Ann’s laptop' }).click();
  await page.getByRole('dialog').getByText('your password is switched on again').waitFor();
  await confirm(page, 'Remove');
  await expect.poll(() => rows(page).count()).toBe(0);
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('passkeys-title');
  await signOut(page);
  await click(page, 'Sign in with a passkey');
  await page.getByRole('alert').getByText('This passkey is not known here').waitFor();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await click(page, 'Sign in');
  await page.getByRole('button', { name: 'Ann Example' }).waitFor();
});

it('a page says why none was added, and asks to sign in again where that was long ago', async () => {
  const { page, email, recognize } = await arrive();
  const told = (text: string) => page.getByRole('alert').getByText(text).waitFor();
  await recognize(false);
  await add(page, 'Phone');
  await told('No passkey was used: it was cancelled, or this device has none.');
  await recognize(true);
  await add(page, 'Phone');
  await rows(page).waitFor();
  await add(page, 'Phone again');
  await told('This device has a passkey of yours for this service already.');
  await sql`
    update person_sessions set created_at = now() - interval '11 minutes'
    where person_number = (select number from people where email = ${email})`;
  await add(page, 'Watch');
  await told('A passkey can be added within ten minutes of a sign-in.');
  await click(page, 'Sign in again');
  await click(page, 'Sign in with a passkey');
  await page.getByRole('button', { name: 'Ann Example' }).waitFor();
});

it('a browser without passkeys is told so, and is not offered any', async () => {
  const { page, context } = await arrive();
  await context.addInitScript(() => {
    Object.defineProperty(globalThis, 'PublicKeyCredential', { value: undefined });
  });
  await page.reload();
  await page.getByText('This browser cannot add a passkey here.').waitFor();
  await signOut(page);
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
});
