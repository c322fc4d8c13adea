import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import type { ProofBundle } from '#libs/contract/responses';
import { fromBase64, utf8 } from '#libs/merkle/bytes';
import { formatTlogProof, verifyTlogProof } from '#libs/merkle/tlog-proof';
import { click, useBrowser } from '../support/browser/browser.ts';
import { type Customer, makeCustomer, open, type Running, store } from '../support/browser/dashboard.ts';
import { picture } from '../support/browser/picture.ts';
import { createLogReader, crypto } from '../support/log-reader.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, type Sealer } from '../support/sealing.ts';
import { at, startStack } from '../support/stack.ts';
import { openRedis } from '../support/stores.ts';

const now = Date.now();

describe('the sealed log in the dashboard', () => {
  const visit = useBrowser();
  let running: Running;
  let sealer: Sealer;
  let customer: Customer;
  let domainId: string;
  let records: NewRecord[];

  beforeAll(async () => {
    const stack = await startStack({ worker: false });
    running = stack;
    sealer = createSealer(stack.db, await openRedis(stack.redis.url));
    customer = await makeCustomer(stack.db, { domains: ['shop.example', 'unsealed.example'] });
    domainId = at(customer.domains, 0).domainId;
    records = Array.from({ length: 1_300 }, (_, index) =>
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
    await store(stack.db, records);
    await sealer.closeAndSeal();
  }, 60_000);

  /** The log, with the details of one visitor's record open. */
  const details = async (visitorId: string, who = customer, domain = domainId) => {
    const visitor = await open(visit, running, who, `/domains/${domain}/log?visitorId=${visitorId}`);
    await visitor.page.getByRole('button', { name: /^Details/ }).click();
    const dialog = visitor.page.getByRole('dialog');
    await dialog.waitFor();
    return { ...visitor, dialog, proof: dialog.getByRole('region', { name: 'Sealed log' }) };
  };
  const positionOf = async (visitorId: string) => {
    const record = records.find((each) => each.visitorId === visitorId);
    const reader = createLogReader(running.api.baseUrl, customer.organizationId, domainId);
    return JSON.parse((await reader.ok(`records/${record?.id}`)).text).position as number;
  };
  /** Changes what the service answers to requests for `part`. */
  const tamper = (page: Page, part: RegExp, change: (text: string) => string) =>
    page.route(part, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: change(await response.text()) });
    });
  const changed = (change: (bundle: ProofBundle) => void) => (text: string) => {
    const bundle: ProofBundle = JSON.parse(text);
    change(bundle);
    return JSON.stringify(bundle);
  };

  it('a record shows its place, and the log how far it is sealed', async () => {
    const { page, proof } = await details('v-3');
    const place = new Intl.NumberFormat('en-GB').format(await positionOf('v-3'));
    await proof.getByText(`Sealed. Entry ${place} of log 1`, { exact: true }).waitFor();
    await page
      .locator('.page-head')
      .getByText(/Sealed up to entry 1,299, \d\d:\d\d:\d\d\./)
      .waitFor();
  });

  it('a downloaded proof is the bundle, in a file named after the record, and verifies elsewhere', async () => {
    const { page, proof } = await details('v-3');
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
    const keys = await createLogReader(running.api.baseUrl, customer.organizationId, domainId).keys();
    expect(verifyTlogProof(file, keys, crypto)).toMatchObject({ holds: true });
  });

  it('Verify says that it holds, with what key, and that the key has to be compared', async () => {
    const { page, proof, messages } = await details('v-3');
    const loaded = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    const isVerifier = (name: string) => name.includes('/assets/verify-proof');
    await proof.getByRole('button', { name: 'Verify' }).waitFor();
    expect((await loaded()).filter(isVerifier)).toEqual([]);
    await proof.getByRole('button', { name: 'Verify' }).click();
    await proof.getByText('Verified in this browser.').waitFor();
    expect((await loaded()).filter(isVerifier)).toHaveLength(1);
    const text = (await proof.textContent()) ?? '';
    expect(text).toContain('The log, which has 1,300 entries, contains this record exactly as it is shown here');
    expect(text).toContain('Compare it with one that you keep elsewhere');
    const reader = createLogReader(running.api.baseUrl, customer.organizationId, domainId);
    expect(text).toContain((await reader.ok('log/key')).text.trim());
    expect(await proof.getByRole('link', { name: 'verify the downloaded proof' }).getAttribute('href')).toBe('/verify');
    expect(messages).toEqual([]);
    await page.locator('.details').evaluate((dialog) => dialog.scrollTo(0, dialog.scrollHeight));
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `dashboard-proof-${colorScheme}`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator('.details').evaluate((dialog) => dialog.scrollTo(0, dialog.scrollHeight));
    await picture(page, 'dashboard-proof-phone');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  });

  it.each<[string, RegExp, (text: string) => string, string]>([
    [
      'decision in the entry',
      /\/proof/,
      changed((bundle) => {
        bundle.entry = bundle.entry.replace('"custom"', '"accept_all"');
      }),
      'the entry, the position or the proof was changed',
    ],
    [
      'position',
      /\/proof/,
      changed((bundle) => {
        bundle.position += 1;
      }),
      'the entry, the position or the proof was changed',
    ],
    [
      'checkpoint',
      /\/proof/,
      changed((bundle) => {
        bundle.checkpoint = bundle.checkpoint.replace('\n1300\n', '\n1301\n');
      }),
      'the text was changed, or signed with another key',
    ],
    [
      'salt',
      /\/proof/,
      changed((bundle) => {
        bundle.opening.circumstances.salt = 'ab'.repeat(16);
      }),
      'The circumstances are not those that the log committed to',
    ],
    [
      'key',
      /\/log\/key/,
      (text) => text.replace(/\+(\w)/, (_, first) => (first === '0' ? '+1' : '+0')),
      'a character of it was changed',
    ],
    ['form of the answer', /\/proof/, () => '{}', '`position` is missing'],
    ['shown record', /\/records\?/, (text) => text.replace('"visitorId":"v-3"', '"visitorId":"v-4"'), 'not that of'],
    [
      'shown preferences',
      /\/records\?/,
      (text) => text.replace('"analytics":true', '"analytics":false'),
      'not that of',
    ],
  ])('a changed %s does not hold, and it says why', async (_, part, change, why) => {
    const { page, messages } = await open(visit.again, running, customer, '/');
    await tamper(page, part, change);
    await page.goto(`${running.api.baseUrl}/domains/${domainId}/log?visitorId=v-3`);
    await page.getByRole('button', { name: /^Details/ }).click();
    await click(page, 'Verify');
    const verdict = page.getByText('The proof does not hold.');
    await verdict.waitFor();
    // the footer of the dialog does not cover it
    await expect
      .poll(async () => {
        const [own, footer] = [await verdict.boundingBox(), await page.locator('.details footer').boundingBox()];
        return (own?.y ?? Number.POSITIVE_INFINITY) + (own?.height ?? 0) <= (footer?.y ?? 0);
      })
      .toBe(true);
    expect(await page.getByRole('region', { name: 'Sealed log' }).textContent()).toContain(why);
    expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);
    await picture(page, 'dashboard-proof-bad');
  });

  it('a record that is not sealed yet says so, and shows its place as soon as it is', async () => {
    const record = recordAt(now, { domainId, visitorId: 'fresh' });
    await store(running.db, [record]);
    const { proof } = await details('fresh');
    await proof.getByText('Not sealed yet: within a minute').waitFor();
    expect(await proof.getByRole('button').count()).toBe(0);
    await sealer.closeAndSeal();
    await proof.getByText('Sealed. Entry 1,300 of log 1').waitFor();
    await proof.getByRole('button', { name: 'Verify' }).click();
    await proof.getByText('Verified in this browser.').waitFor();
  });

  it('where nothing is sealed, nothing is said of it', async () => {
    const { domainId: unsealed } = at(customer.domains, 1);
    await store(running.db, [recordAt(now, { domainId: unsealed, visitorId: 'alone' })]);
    const { page, dialog, proof } = await details('alone', customer, unsealed);
    await page.waitForResponse(/\/records\/[^/?]+$/);
    await dialog.getByText('Record id').waitFor();
    expect(await proof.count()).toBe(0);
    expect(await page.locator('.page-head').textContent()).not.toContain('Sealed');
  });

  it('while the monthly limit caps the log there is no proof, and it says why', async () => {
    const small = await makeCustomer(running.db, { monthlyRecordLimit: 1 });
    const { domainId: capped } = at(small.domains, 0);
    await store(running.db, [recordAt(now, { domainId: capped, visitorId: 'capped' })]);
    await sealer.closeAndSeal();
    const { proof } = await details('capped', small, capped);
    await proof.getByText('Sealed. Entry 0 of log 1').waitFor();
    await proof.getByRole('button', { name: 'Verify' }).click();
    await proof.getByText('The monthly limit of your plan is reached').waitFor();
  });

  it('code that cannot be loaded is said, and can be tried again', async () => {
    const { page, proof } = await details('v-3');
    await page.route(/verify-proof/, (route) => route.abort());
    await proof.getByRole('button', { name: 'Verify' }).click();
    await proof.getByText('could not be loaded').waitFor();
    expect(await proof.getByRole('button', { name: 'Verify' }).isEnabled()).toBe(true);
  });
});
