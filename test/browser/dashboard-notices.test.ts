import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import type { NoticesPage } from '#libs/notices/contract';
import { createNoticeCounting } from '#libs/notices/counting';
import { createPublisher } from '../support/banner.ts';
import { step } from '../support/browser/browser.ts';
import { go, queryOf, useDashboard } from '../support/browser/dashboard.ts';
import { look } from '../support/browser/look.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const dashboard = useDashboard();
const customer = await dashboard.customer();
const { domainId } = at(customer.domains, 0);
const path = `/domains/${domainId}/notices`;

/** As if each version had been published that many days ago, at noon. */
const ages = [60, 40, 2];
const dayBefore = (days: number) => addDays(dayOf(Date.now()), -days);
const cookies = { id: 'maps', label: 'Maps', services: [{ name: 'Map', purpose: 'Shows maps.' }] };
const german = (intro: string) => ({ texts: { de: { title: 'Ihre Wahl', intro } } });
const publisher = createPublisher({ api: dashboard.api, tenant: customer, domainId });
await publisher.publish(german('Wir verwenden Cookies für Statistik.'));
await publisher.save({
  ...german('Wir verwenden Cookies für Statistik und Karten.'),
  categories: ['analytics', cookies],
});
await publisher.publishDraft({ note: 'Maps on the contact page' });
const variants = [{ name: 'plain' }, { name: 'short', settings: { texts: { title: 'In short' } } }];
await publisher.publish({ experiment: { id: 'autumn', variants } });
for (const [index, age] of ages.entries()) {
  const noon = `${dayBefore(age)}T12:00:00Z`;
  const version = index + 1;
  await dashboard.sql`
    with v as (
      update banner_versions set published_at = ${noon} where number = ${version}
        and domain_number = (select number from domains where id = ${domainId})
      returning domain_number
    )
    update notices n set first_seen_at = ${noon} from v
    where n.domain_number = v.domain_number and version = ${String(version)}`;
}
const { notices } = (await dashboard.client(customer).get<NoticesPage>(`/v1/consent/${domainId}/notices`)).body;
const hashOf = (version: string, language: string) =>
  notices.find((each) => each.version === version && each.language === language)?.notice ?? '';
const seen = { domainId, bannerVersion: '1', language: 'de', notice: hashOf('1', 'de') };
// a page that a browser kept over night
const times = [50, 50, 50, 39].map((age) => `${dayBefore(age)}T10:00:00Z`);
await dashboard.store(times.map((time) => recordAt(time, seen)));
await dashboard.grouped(customer, times.length);
await createNoticeCounting(dashboard.db)(new AbortController().signal);

describe('the notices of a domain', () => {
  const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const rows = (page: Page, name: string) => region(page, name).locator('tbody tr').allInnerTexts();
  const choose = (page: Page, days: number) => page.getByRole('textbox', { name: 'Day' }).fill(dayBefore(days));

  it('answer what the banner said on a day: what was live, who published it, and how many decisions it got', async () => {
    const { page } = await dashboard.open(customer, path);
    const shown = region(page, 'Shown on this day');
    await step('today', async () => {
      await shown.getByText('Live since').waitFor();
      expect(await rows(page, 'Shown on this day')).toEqual([
        expect.stringMatching(/^English\s+autumn:(plain|short)\s+3\s/),
        expect.stringMatching(/^English\s+autumn:(plain|short)\s+3\s/),
      ]);
      await look(page, 'notices-today');
      await page.setViewportSize({ width: 390, height: 900 });
      const table = page.getByRole('region', { name: 'Notices of this day' });
      expect(await table.evaluate((frame) => frame.scrollWidth - frame.clientWidth)).toBe(0);
      await page.setViewportSize({ width: 1440, height: 900 });
    });
    await step('a day in the past', async () => {
      await choose(page, 50);
      await shown.getByText('3 decisions on this day').waitFor();
      expect(queryOf(page)).toEqual({ day: dayBefore(50) });
      expect(await shown.getByRole('listitem').allInnerTexts()).toEqual([
        expect.stringMatching(/^Version 1: Live from .*, published by tester\. 3 decisions on this day\.$/),
      ]);
      const said = [expect.stringMatching(/^German\s+1\s.*\s4\s/s), expect.stringMatching(/^English\s+1\s.*\s0\s/s)];
      expect((await rows(page, 'Shown on this day')).sort()).toEqual(said.toReversed());
      await look(page, 'notices-day');
    });
    await step('a day whose decisions still have the version before', async () => {
      await choose(page, 39);
      await shown.getByText('“Maps on the contact page”').waitFor();
      expect(await shown.getByRole('listitem').count()).toBe(2);
      expect(await rows(page, 'Shown on this day')).toHaveLength(4);
    });
    await step('a day on which it changed', async () => {
      await choose(page, 40);
      await shown.getByText('Maps on the contact page').waitFor();
      expect(await shown.getByRole('listitem').count()).toBe(2);
    });
    await step('a day before the first', async () => {
      await choose(page, 61);
      await page.getByRole('heading', { name: 'No notice is known for this day' }).waitFor();
      await look(page, 'notices-none');
    });
    await step('a day that has not come yet, and one that never comes', async () => {
      await choose(page, -1);
      await page.getByRole('heading', { name: /has not come yet$/ }).waitFor();
      expect(await page.getByText('What visitors were shown').count()).toBe(0);
      await go(page, `${path}?day=2026-02-31`);
      await page.getByText('The address has no valid day, so this is today.').waitFor();
      expect(await page.getByRole('textbox', { name: 'Day' }).inputValue()).toBe(dayBefore(0));
    });
  });

  it('open as the visitor saw them, and show word by word what differs', async () => {
    const { page } = await dashboard.open(customer, `${path}?day=${dayBefore(30)}`);
    await region(page, 'Shown on this day').getByRole('link', { name: 'German' }).click();
    const opened = region(page, 'German, version 2');
    await opened.getByText('Wir verwenden Cookies für Statistik und Karten.').waitFor();
    await opened.getByText('Maps on the contact page').waitFor();
    await look(page, 'notices-one');
    const label = await page.getByRole('option', { name: /^German, version 1/ }).textContent();
    await page.getByLabel('Compare with').selectOption({ label: label ?? '' });
    const differences = region(page, 'What differs');
    await differences.getByText('the same.').waitFor();
    const intro = differences.getByRole('listitem').filter({ hasText: /^intro/ });
    expect(await intro.getByRole('insertion').allInnerTexts()).toEqual([expect.stringMatching(/added:\s+und Karten/)]);
    expect(
      await differences.getByRole('listitem').filter({ hasText: 'marketing › label' }).getByRole('deletion').count(),
    ).toBe(1);
    await look(page, 'notices-difference');
    // the address has all of it
    await page.reload();
    await intro.waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'What differs' }).waitFor();
  });

  it('are one press away from a record, and two from their dates', async () => {
    const { page } = await dashboard.open(customer, `/domains/${domainId}/log`);
    await page
      .getByRole('button', { name: /^Details/ })
      .first()
      .click();
    const details = page.getByRole('dialog');
    await details.getByText('Wir verwenden Cookies für Statistik.').waitFor();
    await look(page, 'notices-record');
    await details.getByRole('link', { name: 'When it was shown' }).click();
    await region(page, 'German, version 1').getByText('Live from').waitFor();
    expect(queryOf(page)).toEqual({ day: dayBefore(39), notice: seen.notice });
  });

  it('of which there are thousands are read page by page, and no document before it is opened', async () => {
    const many = await dashboard.customer();
    const { domainId } = at(many.domains, 0);
    await dashboard.sql`
      insert into notices (domain_number, hash, document, language, version, documented_at, named_at, kept_at, records)
      select (select number from domains where id = ${domainId}), sha256(document), document, 'de', 'v' || n, now(), now(), now(), n
      from (select n, convert_to('{"n":' || n || '}', 'UTF8') as document from generate_series(1, 3000) n) as made`;
    const { page } = await dashboard.open(many, '/');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace(/^.*\/(?=notices\b(?!-))/, '')));
    await go(page, `/domains/${domainId}/notices`);
    const earlier = region(page, 'Earlier notices').locator('tbody tr');
    await page.getByRole('button', { name: 'Older notices' }).click();
    await eventually(async () => expect(await earlier.count()).toBe(200));
    expect(asked.filter((each) => each.startsWith('notices'))).toEqual(['notices', 'notices']);
  });

  it('say that an archived domain shows no banner', async () => {
    const archived = await dashboard.customer();
    const { domainId } = at(archived.domains, 0);
    await dashboard.manage(archived, `/domains/${domainId}`, { method: 'DELETE' });
    const { page } = await dashboard.open(archived, `/domains/${domainId}/notices`);
    await page.getByText(/^This domain has been archived since .* UTC: its file shows no banner\.$/).waitFor();
    await look(page, 'notices-archived');
  });
});
