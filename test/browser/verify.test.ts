/** The page that checks proofs, served and opened from disk. */
import { copyFileSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { formatVerifierKey, verifierKey } from '#libs/merkle/verifier-key';
import { useBrowser } from '../support/browser/browser.ts';
import { bundle, timestamp, timestampDigest } from '../support/log-bundle.ts';
import { logKey, sha256, vector } from '../support/log-vector.ts';
import { useStack } from '../support/stack.ts';

const axePath = createRequire(import.meta.url).resolve('axe-core');

const brokenKey = 'consent.example.com/dom_x+a2b5d1c7+AQ==';
const otherOrigin = 'consent.example.com/dom_other';
const anotherLogsKey = formatVerifierKey(
  verifierKey(sha256, otherOrigin, logKey(vector.logKey, otherOrigin).publicKey),
);
const changed = vector.proof.replace('vlL0HdHE', 'vlL0HdHF');

describe.each(['served', 'from disk'])('the page that checks proofs, %s', (way) => {
  const visit = useBrowser();
  let address: string;

  beforeAll(async () => {
    const stack = await useStack();
    address = `${stack.api.baseUrl}/verify`;
    if (way === 'served') return;
    // alone in a folder, as somebody would have it who saved it
    const saved = path.join(mkdtempSync(path.join(inject('folder'), 'saved-')), 'check a proof.html');
    copyFileSync(path.join(inject('dist'), 'apps/verify/index.html'), saved);
    address = pathToFileURL(saved).href;
  });

  const open = async (options = {}) => {
    const visitor = await visit.again(options);
    visitor.messages.length = 0;
    const requests: string[] = [];
    visitor.page.on('request', (request) => requests.push(request.url()));
    await visitor.page.goto(address);
    return { ...visitor, requests };
  };
  const choose = (page: Page, content: string | object, name = 'record.tlog-proof') =>
    page.getByLabel('Proof file or bundle').setInputFiles({
      name,
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
    });
  const enter = (page: Page, key: string) => page.getByLabel('Verifier key').fill(key);
  const verdict = (page: Page) => page.getByRole('status').innerText();
  const facts = (page: Page) =>
    page
      .locator('.fact')
      .evaluateAll((rows) => rows.map((row) => Array.from(row.children, ({ textContent }) => textContent)));

  it('says in words what a proof holds, once there are a file and a key, and asks nobody', async () => {
    const { page, messages, requests } = await open();
    expect(await verdict(page)).toBe('Choose a proof file or a bundle.');
    await choose(page, vector.proof);
    await page.getByText('Enter the verifier key.').waitFor();
    await enter(page, `  ${vector.verifierKey}\n`);
    expect(await verdict(page)).toBe('The proof holds.\nA visitor of dom_test chose by category.');
    expect(await facts(page)).toEqual([
      ['Decision', 'custom'],
      ['Domain', 'dom_test'],
      ['Record', '019a0000-0000-7000-8000-000000000001'],
      ['Decided', '2025-10-20T05:03:11.360Z'],
      ['Received', '2025-10-20T05:03:12.000Z'],
      ['Source', 'banner'],
      ['Global Privacy Control', 'on'],
      ['Notice', 'ab'.repeat(32)],
      ['Other fields', 'in this file only as commitments; a bundle opens them'],
      ['Log', 'consent.example.com/dom_test'],
      ['Position', '1 (counted from 0), in a log of 3 entries'],
      ['Signed by', vector.verifierKey],
    ]);
    expect(requests.filter((url) => !url.endsWith('/favicon.ico'))).toEqual([address]);
    expect(messages).toEqual([]);
  });

  it('says what a proof does not show, and where the key has to come from', async () => {
    const { page } = await open();
    const limits = page.getByRole('region', { name: 'What a proof does not show' });
    expect(await limits.innerText()).toMatch(/evidence begins where a checkpoint left the operator's hands/);
    expect(await limits.innerText()).toMatch(/never sent leaves no trace/);
    expect(await page.getByText('Get it from elsewhere than the proof').count()).toBe(1);
  });

  it.each<[string, string | object, string, RegExp]>([
    [
      'one bit changed',
      changed,
      vector.verifierKey,
      /^This proof does not hold\.\nThe log that was signed does not have this entry/,
    ],
    [
      'another signature',
      vector.proof.replace('7bgo=', '7bho='),
      vector.verifierKey,
      /The signature of consent\.example\.com\/dom_test is wrong/,
    ],
    ['something that is no proof', 'hello', vector.verifierKey, /no proof file/],
    ['nothing', '', vector.verifierKey, /no proof file/],
    [
      'another decision in the record',
      { ...bundle, record: { ...bundle.record, decision: 'accept_all' } },
      vector.verifierKey,
      /`decision` is "accept_all", but what the log committed to is "custom"/,
    ],
  ])('says that a file with %s does not hold, and why', async (_, content, key, why) => {
    const { page, messages } = await open();
    await enter(page, key);
    await choose(page, content);
    await page.getByText('This proof does not hold.').waitFor();
    expect(await verdict(page)).toMatch(why);
    expect(await facts(page)).toEqual([]);
    expect(messages).toEqual([]);
  });

  it('names what is wrong with a key, at its field, and holds again with the right one', async () => {
    const { page } = await open();
    await choose(page, vector.proof);
    await page.getByText('Enter the verifier key.').waitFor();
    const field = page.getByLabel('Verifier key');
    await enter(page, brokenKey);
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('#key-error').innerText()).toContain('The verifier key has 0 bytes instead of 32.');
    await enter(page, vector.verifierKey.replace('Acdy', 'Acdz'));
    expect(await page.locator('#key-error').innerText()).toContain('a character of it was changed');
    await enter(page, vector.verifierKey);
    expect(await field.getAttribute('aria-invalid')).toBeNull();
    expect(await verdict(page)).toContain('The proof holds.');
    // typing on: what is not complete is not yet wrong
    await field.press('End');
    await field.press('x');
    expect(await verdict(page)).toBe('The verifier key is not right yet.');
    expect(await page.locator('#key-error').innerText()).toBe('');
    await field.blur();
    expect(await page.locator('#key-error').innerText()).not.toBe('');
  });

  it("does not hold with another log's key", async () => {
    const { page } = await open();
    await choose(page, vector.proof);
    await page.getByText('Enter the verifier key.').waitFor();
    await enter(page, anotherLogsKey);
    expect(await verdict(page)).toMatch(
      /signed by consent\.example\.com\/dom_test, and the key given is that of consent\.example\.com\/dom_other/,
    );
  });

  it('opens a bundle, and says how its time-stamp is checked', async () => {
    const { page } = await open();
    await enter(page, vector.verifierKey);
    await choose(page, { ...bundle, timestamp }, 'bundle.json');
    await page.getByText('The proof holds.').waitFor();
    expect(await facts(page)).toEqual(
      expect.arrayContaining([
        ['Categories', '9 denied, 10 allowed, analytics allowed'],
        ['Visitor', 'v-1'],
        ['Time-stamped hash', timestampDigest],
      ]),
    );
    expect(await page.locator('#commands').innerText()).toContain(`openssl ts -verify -digest ${timestampDigest}`);
    await choose(page, changed);
    await page.getByText('This proof does not hold.').waitFor();
    expect(await page.locator('#commands').isVisible()).toBe(false);
  });

  it('takes a file that is dropped anywhere on it', async () => {
    const { page } = await open();
    await enter(page, vector.verifierKey);
    const transfer = await page.evaluateHandle((content) => {
      const made = new DataTransfer();
      made.items.add(new File([content], 'dropped.tlog-proof'));
      return made;
    }, vector.proof);
    await page.dispatchEvent('h1', 'dragover', { dataTransfer: transfer });
    await page.dispatchEvent('h1', 'drop', { dataTransfer: transfer });
    await page.getByText('The proof holds.').waitFor();
    const chosen = page.getByLabel('Proof file or bundle');
    expect(await chosen.evaluate((input: HTMLInputElement) => input.files?.[0]?.name)).toBe('dropped.tlog-proof');
  });

  it('shows what a file says as text', async () => {
    const { page } = await open();
    await enter(page, vector.verifierKey);
    const markup = '<img src=x onerror=alert(1)>';
    await choose(page, { ...bundle, record: { ...bundle.record, decision: markup } });
    await page.getByText('This proof does not hold.').waitFor();
    expect(await verdict(page)).toContain(markup);
    expect(await page.locator('img').count()).toBe(0);
  });

  it('says so where a file is too large to be a proof', async () => {
    const { page } = await open();
    await enter(page, vector.verifierKey);
    const huge = path.join(mkdtempSync(path.join(inject('folder'), 'huge-')), 'huge.iso');
    writeFileSync(huge, vector.proof);
    truncateSync(huge, 9 * 1024 * 1024);
    await page.getByLabel('Proof file or bundle').setInputFiles(huge);
    await page.getByText('huge.iso is too large to be a proof.').waitFor();
    expect(await verdict(page)).toBe('Choose a proof file or a bundle.');
  });

  it('runs nothing but its own script', async () => {
    const { page, messages } = await open();
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "run"';
      document.body.append(script);
    });
    expect(await page.title()).toBe('Check a proof · Assent');
    expect(messages.join()).toContain('Content Security Policy');
    const refused = page.evaluate(
      () =>
        new Promise((resolve) => {
          document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => resolve(effectiveDirective));
          fetch('https://example.com').catch(() => {});
        }),
    );
    expect(await refused).toBe('connect-src');
  });

  it.each(['light', 'dark'] as const)('has nothing for axe to find, in %s', async (colorScheme) => {
    const { page } = await visit({ colorScheme, bypassCSP: true });
    await page.goto(address);
    const violations = async () => {
      await page.addScriptTag({ path: axePath });
      const results = await page.evaluate(() =>
        (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
      );
      return results.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
    };
    expect(await violations()).toEqual([]);
    await enter(page, vector.verifierKey);
    await choose(page, { ...bundle, timestamp });
    await page.getByText('The proof holds.').waitFor();
    expect(await violations()).toEqual([]);
    await choose(page, changed);
    await page.getByText('This proof does not hold.').waitFor();
    await enter(page, brokenKey);
    expect(await violations()).toEqual([]);
  });

  it('fits into 320 pixels, and is operated by the keyboard with a visible focus', async () => {
    const { page } = await open({ viewport: { width: 320, height: 640 } });
    await enter(page, vector.verifierKey);
    await choose(page, { ...bundle, timestamp }, `${'long'.repeat(30)}.json`);
    await page.getByText('The proof holds.').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    await page.evaluate(() => window.getSelection()?.removeAllRanges());
    await page.getByLabel('Proof file or bundle').focus();
    const focused = () =>
      page.evaluate(() => [
        document.activeElement?.id,
        getComputedStyle(document.activeElement ?? document.body).outlineStyle,
      ]);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    expect(await focused()).toEqual(['file', 'solid']);
    await page.keyboard.press('Tab');
    expect(await focused()).toEqual(['key', 'solid']);
  });
});
