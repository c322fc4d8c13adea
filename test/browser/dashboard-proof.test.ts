import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProofBundle } from '#libs/proof/contract';
import { fromBase64, utf8 } from '#libs/proof/tree/bytes';
import { formatTlogProof } from '#libs/proof/tree/tlog-proof';
import { dataRoot } from '../../scripts/stack/paths.ts';
import { click, step } from '../support/browser/browser.ts';
import { go, useDashboard } from '../support/browser/dashboard.ts';
import { violations } from '../support/browser/look.ts';
import { tokenFor } from '../support/client.ts';
import { createLogReader, crypto } from '../support/log-reader.ts';
import { verifyTlogProof } from '../support/proof-checks.ts';
import { recordAt } from '../support/records.ts';
import { createSealer } from '../support/sealing.ts';
import { at, startStack } from '../support/stack.ts';
import { openRedis } from '../support/stores.ts';

const now = Date.now();

const stack = await startStack({ worker: false });
const sealer = createSealer(stack.db, await openRedis(stack.redis.url));
const dashboard = useDashboard(stack);

const customer = await dashboard.customer({ domains: ['shop.example', 'unsealed.example'] });
const domainId = at(customer.domains, 0).domainId;
const records = Array.from({ length: 300 }, (_, index) =>
  recordAt(now - index * 1_000, {
    domainId,
    decision: 'custom',
    visitorId: `v-${index}`,
    preferences: { analytics: true, 10: false, 9: true },
    pageUrl: 'https://shop.example/tents',
    userAgent: 'Mozilla/5.0 Firefox/144.0',
    language: 'de-CH',
    metadata: { step: 2, shop: 'nörth' },
    gpc: true,
  }),
);
await dashboard.store(records);
await sealer.closeAndSeal();

describe('the sealed log in the dashboard', () => {
  /** The log, with the details of one visitor's record open. */
  const details = async (visitorId: string) => {
    const visitor = await dashboard.open(customer, `/domains/${domainId}/log?visitorId=${visitorId}`);
    await visitor.page.getByRole('button', { name: /^Details/ }).click();
    const dialog = visitor.page.getByRole('dialog');
    await dialog.waitFor();
    return { ...visitor, dialog, proof: dialog.getByRole('region', { name: 'Sealed log' }) };
  };

  it('a record shows its place; its proof can be downloaded, and verified here and elsewhere', async () => {
    const { page, proof, messages } = await details('v-3');
    const reader = createLogReader(dashboard.api.baseUrl, customer.organizationId, domainId);
    const record = records.find(({ visitorId }) => visitorId === 'v-3');
    const { position } = JSON.parse((await reader.ok(`records/${record?.id}`)).text);
    await proof.getByText(`Sealed. Entry ${position} of log 1`, { exact: true }).waitFor();
    const sealed = page.locator('.page-head').getByText(/Sealed up to entry 299, \d\d:\d\d:\d\d\./);
    await sealed.waitFor();

    await step('a download is the bundle, in a file named after the record, and verifies elsewhere', async () => {
      const downloading = page.waitForEvent('download');
      await proof.getByRole('button', { name: 'Download proof' }).click();
      const download = await downloading;
      const bundle: ProofBundle = JSON.parse(readFileSync(await download.path(), 'utf8'));
      expect(download.suggestedFilename()).toBe(`${bundle.record.id}.json`);
      expect(bundle.record.visitorId).toBe('v-3');
      const file = formatTlogProof({
        entry: utf8(bundle.entry),
        index: bundle.position,
        proof: bundle.proof.map((hash) => fromBase64(hash) ?? new Uint8Array()),
        checkpoint: bundle.checkpoint,
      });
      expect(verifyTlogProof(file, await reader.keys(), crypto)).toMatchObject({ holds: true });
    });

    const verify = proof.getByRole('button', { name: 'Verify' });
    await step('Verify loads its code, and says that it holds, with a key that has to be compared', async () => {
      const loaded = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
      expect((await loaded()).filter((name) => name.includes('/assets/verify-proof'))).toEqual([]);
      await verify.click();
      await proof.getByText('Verified in this browser.').waitFor();
      const text = (await proof.textContent()) ?? '';
      expect(text).toContain('The log, which has 300 entries, contains this record exactly as it is shown here');
      expect(text).toContain('Compare it with one that you keep elsewhere');
      expect(text).toContain((await reader.ok('log/key')).text.trim());
      const elsewhere = proof.getByRole('link', { name: 'verify the downloaded proof' });
      expect(await elsewhere.getAttribute('href')).toBe('/verify');
      expect(messages).toEqual([]);
    });
  });

  type Change = (text: string) => string;
  const otherKey: Change = (text) => text.replace(/\+(\w)/, (_, first) => (first === '0' ? '+1' : '+0'));
  const otherPreferences: Change = (text) => text.replace('"analytics":true', '"analytics":false');
  // what else can be changed in a bundle: test/proof/bundle.unit.test.ts
  it('a changed key, or record that is shown, does not hold, and it says why', async () => {
    const { page, messages } = await dashboard.regular();
    const changing = (part: RegExp, change: Change) =>
      page.route(part, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: change(await response.text()) });
      });
    await changing(/\/log\/key/, otherKey);
    const { proof } = await details('v-3');
    await proof.getByRole('button', { name: 'Verify' }).click();
    const verdict = page.getByText('The proof does not hold.');
    await verdict.waitFor();
    expect(await proof.textContent()).toContain('a character of it was changed');
    // the footer of the dialog does not cover it
    await expect
      .poll(async () => {
        const [own, footer] = [await verdict.boundingBox(), await page.locator('.details footer').boundingBox()];
        return (own?.y ?? Number.POSITIVE_INFINITY) + (own?.height ?? 0) <= (footer?.y ?? 0);
      })
      .toBe(true);
    await page.unroute(/\/log\/key/);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await changing(/\/records\?/, otherPreferences);
    const answered = page.waitForResponse(/\/records\?/);
    await go(page, `/domains/${domainId}/log?visitorId=v-3&limit=25`);
    await answered;
    await page.getByRole('button', { name: /^Details/ }).click();
    await proof.getByRole('button', { name: 'Verify' }).click();
    await verdict.waitFor();
    expect(await proof.textContent()).toContain('not that of');
    expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);
  });

  it('a record that is not sealed yet says so, and shows its place as soon as it is; where nothing is, nothing is said', async () => {
    await dashboard.store([recordAt(Date.now(), { domainId, visitorId: 'fresh' })]);
    const { page, dialog, proof } = await details('fresh');
    await proof.getByText('Not sealed yet: within a minute').waitFor();
    expect(await proof.getByRole('button').count()).toBe(0);
    await sealer.closeAndSeal();
    await proof.getByText('Sealed. Entry 300 of log 1').waitFor();
    await step('code that cannot be loaded is said', async () => {
      await page.route(/verify-proof/, (route) => route.abort());
      await proof.getByRole('button', { name: 'Verify' }).click();
      await proof.getByText('could not be loaded').waitFor();
      expect(await proof.getByRole('button', { name: 'Verify' }).isEnabled()).toBe(true);
    });
    const { domainId: unsealed } = at(customer.domains, 1);
    await dashboard.store([recordAt(Date.now(), { domainId: unsealed, visitorId: 'alone' })]);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await go(page, `/domains/${unsealed}/log`);
    const asked = page.waitForResponse(/\/records\/[^/?]+$/);
    await page
      .getByRole('row')
      .filter({ hasText: 'alone' })
      .getByRole('button', { name: /^Details/ })
      .click();
    await asked;
    await dialog.getByText('Record id').waitFor();
    expect(await proof.count()).toBe(0);
    expect(await page.locator('.page-head').textContent()).not.toContain('Sealed');
  });

  it('an erasure has a receipt that is found again, with the proof of its sealed entry, to keep and to print', async () => {
    const officer = {
      token: tokenFor(customer.organizationId, { scope: 'read privacy manage', sub: 'olga@northwind.example' }),
    };
    const { page, messages } = await dashboard.open(officer, `/domains/${domainId}/visitor`);
    await page.getByRole('searchbox', { name: 'Visitor' }).fill('v-7');
    await click(page, 'Find');
    await click(page, 'Erase…');
    await page.getByRole('dialog').getByText('country, region, model, consent strings').waitFor();
    await click(page, 'Erase this visitor');
    await page.getByRole('link', { name: 'a receipt' }).click();
    await page.getByText('Not sealed yet').waitFor();
    await sealer.closeAndSeal();
    await step('which shows its entries as soon as they are sealed', () =>
      page.getByText(/^Sealed as entry 301 of log 1/).waitFor(),
    );
    await go(page, '/activity?act=visitor.erase');
    await page.getByRole('region', { name: 'Activity' }).getByRole('link', { name: /^ers_/ }).click();
    await page.getByRole('heading', { name: 'Receipt of an erasure' }).waitFor();
    await go(page, '/');
    await page.getByRole('link', { name: 'Erasures', exact: true }).click();
    const listed = page.getByRole('listitem').filter({ hasText: 'olga@northwind.example' }).getByRole('link');
    await listed.waitFor();
    expect(await violations(page)).toEqual([]);
    await listed.click();
    const receipt = page.getByRole('region', { name: /^Erasure ers_/ });
    const entry = receipt.getByRole('listitem');
    await entry.getByText(/^Sealed as entry 301 of log 1: erased the record of entry \d+$/).waitFor();
    for (const text of ['Northwind Outdoor', 'olga@northwind.example', 'shop.example', '1 record'])
      expect(await receipt.getByText(text, { exact: true }).count()).toBe(1);
    expect(await receipt.textContent()).not.toContain('v-7');
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await entry.waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), click(page, 'Download proof of entry 301')]);
    expect(download.suggestedFilename()).toBe(`erasure-${domainId}-1-301.txt`);
    const reader = createLogReader(dashboard.api.baseUrl, customer.organizationId, domainId);
    const proof = verifyTlogProof(readFileSync(await download.path()), await reader.keys(), crypto);
    expect(proof).toMatchObject({ holds: true });
    await page.emulateMedia({ media: 'print' });
    expect(await entry.isVisible()).toBe(true);
    for (const hidden of ['Print', 'Sign out'])
      expect(await page.getByRole('button', { name: hidden }).isVisible()).toBe(false);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: path.join(dataRoot, 'screenshots/erasure-print.png') });
    await page.emulateMedia({ media: null });
    await step('the record’s details say when it was erased', async () => {
      await go(page, `/domains/${domainId}/log`);
      const erased = records.find(({ visitorId }) => visitorId === 'v-7');
      await page.getByRole('row').nth(9).waitFor();
      const { body } = await dashboard.client(customer).get(`/v1/consent/${domainId}/records/${erased?.id}`);
      expect(body).toMatchObject({ erasedAt: expect.any(String) });
      await page
        .getByRole('button', { name: /^Details/ })
        .nth(8)
        .click();
      await page.getByRole('dialog').getByText('Personal fields erased').waitFor();
    });
    expect(messages).toEqual([]);
  });
});
