/** The page that checks proofs, served and opened from disk. What holds and what does not: test/proof/*.unit.test.ts */
import { copyFileSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, inject, it } from 'vitest';
import { hex, utf8 } from '#libs/proof/tree/bytes';
import { recordEntry } from '#libs/proof/tree/entry';
import { largestFile } from '#libs/proof/tree/recognize';
import { formatVerifierKey } from '#libs/proof/tree/verifier-key';
import { step, useBrowser } from '../support/browser/browser.ts';
import { violations } from '../support/browser/look.ts';
import { bundle, timestamp, timestampDigest } from '../support/log-bundle.ts';
import { sha256, signedLog, vector } from '../support/log-vector.ts';
import { sharedStack } from '../support/shared.ts';

const brokenKey = 'consent.example.com/dom_x+a2b5d1c7+AQ==';
const changed = vector.proof.replace('vlL0HdHE', 'vlL0HdHF');

const served = `${sharedStack().api.baseUrl}/verify`;
// alone in a folder, as somebody would have it who saved it
const file = path.join(mkdtempSync(path.join(inject('folder'), 'saved-')), 'check a proof.html');
copyFileSync(path.join(inject('dist'), 'apps/verify/index.html'), file);
const saved = pathToFileURL(file).href;

/** The bundle of the same record in a log of its own, with what the visitor was shown. */
function sealedWith(notice: string) {
  const record = { ...bundle.record, position: 0, notice: hex(sha256(utf8(notice))) };
  const { circumstances, private: personal } = vector;
  const entry = recordEntry(record, { circumstances: circumstances.commitment, private: personal.commitment });
  const { key, checkpoint } = signedLog([entry]);
  const bundled = { ...bundle, record, entry, position: 0, proof: [], checkpoint, notice };
  return { bundled, key: formatVerifierKey(key) };
}

describe('the page that checks proofs', () => {
  const visit = useBrowser();

  const open = async () => {
    const visitor = await visit.again();
    const requests: string[] = [];
    visitor.page.on('request', (request) => requests.push(request.url()));
    await visitor.page.goto(served);
    return { ...visitor, requests };
  };
  const choose = (page: Page, content: string | object, name = 'record.tlog-proof') =>
    page.getByLabel('Proof file, bundle').setInputFiles({
      name,
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
    });
  const enter = (page: Page, key: string) => page.getByLabel('Verifier key').fill(key);
  const verdict = (page: Page) => page.getByRole('status').innerText();
  const fails = (page: Page) => page.getByText('This proof does not hold.').waitFor();
  const facts = (page: Page) =>
    page
      .locator('.fact')
      .evaluateAll((rows) => rows.map((row) => Array.from(row.children, ({ textContent }) => textContent)));

  it('says in words what a proof holds, once there are a file and a key, and asks nobody, also from disk', async () => {
    const { page, messages, requests } = await open();
    expect(await verdict(page)).toBe("Choose a proof file, a bundle, a checkpoint or a visitor's download.");
    const limits = await page.getByRole('region', { name: 'What a proof does not show' }).innerText();
    expect(limits).toMatch(/evidence begins where a checkpoint left the operator's hands/);
    expect(limits).toMatch(/never sent leaves no trace/);
    expect(await page.getByText('Get it from elsewhere than the proof').count()).toBe(1);
    await choose(page, vector.proof);
    await page.getByText('Enter the verifier key.').waitFor();
    await enter(page, `  ${vector.verifierKey}\n`);
    const words = (where: string) =>
      `The proof holds.\nOn 20 October 2025, 05:03 UTC, a visitor of ${where} chose by category.`;
    expect(await verdict(page)).toBe(words('dom_test'));
    const proven = [
      ['Decision', 'custom'],
      ['Other fields', 'in this file only as commitments; a bundle opens them'],
      ['Position', '1 (counted from 0), in a log of 3 entries'],
      ['Signed by', vector.verifierKey],
    ];
    expect(await facts(page)).toEqual(expect.arrayContaining(proven));
    await choose(page, { ...bundle, timestamp }, 'bundle.json');
    await page.getByText('Time-stamped hash').waitFor();
    expect(await facts(page)).toContainEqual(['Categories', '9 denied, 10 allowed, analytics allowed']);
    expect(await verdict(page)).toBe(words('shop.example'));
    expect(await page.locator('#commands').innerText()).toContain(`openssl ts -verify -digest ${timestampDigest}`);
    await choose(page, changed);
    await fails(page);
    expect(await verdict(page)).toMatch(/\nThe log that was signed does not have this entry/);
    expect(await facts(page)).toEqual([]);
    expect(await page.locator('#commands').isVisible()).toBe(false);
    await page.goto(saved);
    await enter(page, vector.verifierKey);
    await choose(page, vector.proof);
    await page.getByText('The proof holds.').waitFor();
    expect(requests.filter((url) => !url.endsWith('/favicon.ico'))).toEqual([served, saved]);
    expect(messages).toEqual([]);
  });

  it('shows a notice as it was laid out, with the JSON folded, and prints what it found', async () => {
    const { page, messages } = await open();
    const notice = JSON.stringify({
      ...{ language: 'de', title: 'Ihre Daten', intro: '<b>Kekse</b>\u202e & mehr' },
      buttons: ['Alle akzeptieren', 'Alle ablehnen'],
    });
    const { bundled, key } = sealedWith(notice);
    await enter(page, key);
    await choose(page, bundled, 'bundle.json');
    const shown = page.locator('.shown');
    await shown.getByText('Ihre Daten').waitFor();
    expect(await shown.getAttribute('lang')).toBe('de');
    expect(await shown.getByText('<b>Kekse</b>\\u{202e} & mehr').isVisible()).toBe(true);
    expect(await shown.getByRole('list', { name: 'buttons' }).getByRole('listitem').count()).toBe(2);
    // as in the dashboard
    const styles = await shown
      .getByRole('listitem')
      .first()
      .evaluate((item) => getComputedStyle(item).borderRadius);
    expect(styles).toBe('8px');
    expect(await violations(page)).toEqual([]);
    const json = page.locator('#json');
    expect(await json.isVisible()).toBe(false);
    await page.getByText('Raw JSON').click();
    expect(await json.innerText()).toContain('"intro": "<b>Kekse</b>\\u{202e} & mehr"');
    await page.evaluate(() => {
      window.print = () => document.body.setAttribute('data-printed', '');
    });
    await page.getByRole('button', { name: 'Print' }).click();
    expect(await page.locator('body').getAttribute('data-printed')).toBe('');
    await page.emulateMedia({ media: 'print' });
    for (const part of ['#verdict', '#facts', '.shown', '#limits'])
      expect(await page.locator(part).isVisible(), part).toBe(true);
    for (const part of ['#form', '#print']) expect(await page.locator(part).isVisible(), part).toBe(false);
    await page.emulateMedia({ media: null });
    await step('which the next file takes away', async () => {
      await choose(page, vector.checkpoint);
      await page.getByText('The checkpoint holds.').waitFor();
      expect(await shown.isVisible()).toBe(false);
      expect(await page.getByText('Raw JSON').isVisible()).toBe(false);
    });
    expect(messages).toEqual([]);
  });

  it("takes a visitor's download, each record of it, and says of what is no proof that it is none", async () => {
    const { page } = await open();
    const { record } = bundle;
    await choose(page, {
      visitorId: 'v-1',
      records: [{ ...record, id: 'new\u202e\u200b', position: null }],
      bundles: { [record.id]: bundle },
    });
    await page.getByText('Enter the verifier key.').waitFor();
    await enter(page, vector.verifierKey);
    await page.getByText('Not every record holds.').waitFor();
    expect(await facts(page)).toEqual([
      [record.id, 'does not hold: The download has a bundle of it, but not the record.'],
      // what turns the text around, or is not seen, is shown
      ['new\\u{202e}\\u{200b}', 'no proof: it was not sealed yet'],
    ]);
    await choose(page, { visitorId: 'v-1', records: [record], bundles: { [record.id]: bundle } });
    await page.getByText('Each record holds.').waitFor();
    expect(await facts(page)).toEqual([
      [
        record.id,
        expect.stringMatching(/^holds: On 20 October .* Categories: 9 denied, 10 allowed, analytics allowed\./),
      ],
    ]);
    const erased = { ...bundle, opening: { ...bundle.opening, private: null } };
    await choose(page, { visitorId: 'v-1', records: [record], bundles: { [record.id]: erased } });
    await page.getByText('Not every record can be shown to be this visitor’s.').waitFor();
    await choose(page, vector.checkpoint);
    await page.getByText('The checkpoint holds.').waitFor();
    // a check of thousands of records takes seconds, and says that it has begun
    await page.getByRole('status').evaluate((status) => {
      const note = () =>
        status.setAttribute('data-said', `${status.getAttribute('data-said') ?? ''}${status.textContent}`);
      new MutationObserver(note).observe(status, { childList: true });
    });
    const large = JSON.stringify({ visitorId: 'v-1', records: [record], bundles: { [record.id]: bundle } });
    await choose(page, large + ' '.repeat(5 * 1024 * 1024));
    await page.getByText('Each record holds.').waitFor();
    expect(await page.getByRole('status').getAttribute('data-said')).toMatch(/^Checking….*Each record holds/);
    await choose(page, { name: 'package' });
    await page.getByText('This is not a proof.').waitFor();
    expect(await verdict(page)).not.toContain('does not hold');
  });

  it('names what is wrong with a key, at its field, and holds again with the right one', async () => {
    const { page } = await open();
    await choose(page, vector.proof);
    await page.getByText('Enter the verifier key.').waitFor();
    const [field, error] = [page.getByLabel('Verifier key'), page.locator('#key-error')];
    await enter(page, brokenKey);
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await error.innerText()).toContain('The verifier key has 0 bytes instead of 32.');
    await enter(page, vector.verifierKey);
    expect(await field.getAttribute('aria-invalid')).toBeNull();
    expect(await verdict(page)).toContain('The proof holds.');
    // typing on: what is not complete is not yet wrong
    await field.press('End');
    await field.press('x');
    expect(await verdict(page)).toBe('The verifier key is not right yet.');
    expect(await error.innerText()).toBe('');
    await field.blur();
    expect(await error.innerText()).not.toBe('');
    await step('the keyboard reaches both, and is seen where it is', async () => {
      const focused = () =>
        page.evaluate(() => [
          document.activeElement?.id,
          getComputedStyle(document.activeElement ?? document.body).outlineStyle,
        ]);
      await page.getByLabel('Proof file, bundle').focus();
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Tab');
      expect(await focused()).toEqual(['file', 'solid']);
      await page.keyboard.press('Tab');
      expect(await focused()).toEqual(['key', 'solid']);
    });
  });

  it('takes a file that is dropped anywhere on it, but none that is too large, and runs nothing but its own script', async () => {
    const { page, messages } = await open();
    await enter(page, vector.verifierKey);
    const transfer = await page.evaluateHandle((content) => {
      const made = new DataTransfer();
      made.items.add(new File([content], 'dropped.tlog-proof'));
      return made;
    }, vector.proof);
    await page.dispatchEvent('h1', 'dragover', { dataTransfer: transfer });
    await page.dispatchEvent('h1', 'drop', { dataTransfer: transfer });
    await page.getByText('The proof holds.').waitFor();
    const chosen = page.getByLabel('Proof file, bundle');
    expect(await chosen.evaluate((input: HTMLInputElement) => input.files?.[0]?.name)).toBe('dropped.tlog-proof');
    const huge = path.join(mkdtempSync(path.join(inject('folder'), 'huge-')), 'huge.iso');
    writeFileSync(huge, vector.proof);
    truncateSync(huge, largestFile + 1);
    await chosen.setInputFiles(huge);
    await page.getByText('huge.iso is too large to be a proof.').waitFor();
    expect(await verdict(page)).toBe("Choose a proof file, a bundle, a checkpoint or a visitor's download.");
    const markup = '<img src=x onerror=alert(1)>';
    await choose(page, { ...bundle, record: { ...bundle.record, decision: markup } });
    await fails(page);
    expect(await verdict(page)).toContain(markup);
    expect(await page.locator('img').count()).toBe(0);
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
});
