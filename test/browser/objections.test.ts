/** Objections where nobody is asked first, by hand and by the browser's signal: recorded, kept and shown. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { publishedNotices } from '#libs/widget/published-notices';
import { click, step } from '../support/browser/browser.ts';
import { look } from '../support/browser/look.ts';
import {
  choices,
  go,
  googles,
  honored,
  placed,
  type places,
  regions,
  settingsOfPlaces,
  shownOn,
  signal,
  usePlaces,
} from '../support/browser/places.ts';
import { config } from '../support/browser/site.ts';
import { consentIn, documentOf, useWidget } from '../support/browser/widget.ts';

/** The choice is older than any choice lasts. */
const age = (page: Page) =>
  page.evaluate(() => {
    for (const [name, text] of Object.entries(localStorage)) {
      if (name.endsWith('.consent'))
        localStorage[name] = JSON.stringify({ ...JSON.parse(text), at: Date.now() - 400 * 86_400_000 });
      if (name.endsWith('.seen')) localStorage.removeItem(name);
    }
  });

describe('an objection', () => {
  const widget = useWidget(usePlaces);
  const add = (...page: [string, string?, object?]) => placed(widget)(...page);

  it('an objection is recorded under its model, takes cookies with it, and is said beside the switches from then on', async () => {
    const { page, context } = await widget.visit();
    await go(context, 'Los Angeles');
    const services = [{ name: 'Counter', cookies: [{ name: '_ga' }] }];
    const categories = [{ id: 'analytics', services }, 'marketing'];
    const address = add('/', '', { categories });
    await page.goto(address);
    await context.addCookies([{ name: '_ga', value: '1', domain: 'localhost', path: '/' }]);
    await choices(page).last().click();
    const settings = page.getByRole('dialog', { name: 'Your Privacy Choices' });
    await settings.waitFor();
    expect(
      await page.getByRole('switch').evaluateAll((all) => all.map((each) => (each as HTMLInputElement).checked)),
    ).toEqual([true, true]);
    expect(await honored(page).count()).toBe(0);
    await page.getByRole('switch', { name: 'Statistics' }).uncheck();
    await click(page, 'Save choice');
    const [record] = await widget.records(1);
    expect(record).toMatchObject({
      ...{ decision: 'custom', source: 'preferences', model: 'opt_out', pageUrl: expect.any(String) },
      preferences: { analytics: false, marketing: true },
    });
    const document = await documentOf(widget.stack, record?.notice);
    const shown = JSON.parse(document);
    // byte for byte as publishing makes it
    const published = publishedNotices({ ...settingsOfPlaces, categories }, shown.version);
    expect([...published].map(({ text }) => text)).toContain(document);
    expect(shown).toMatchObject({ model: 'opt_out', asks: '', buttons: ['Your Privacy Choices', 'Close'] });
    expect(shown.settings.categories.map(({ on }: { on?: boolean }) => on)).toEqual([undefined, true, true]);
    await expect.poll(async () => (await context.cookies()).map(({ name }) => name)).not.toContain('_ga');
    expect(await googles(page)).toMatchObject({
      now: 'denied granted',
      event: 'assent_change opt_out necessary,marketing',
    });
    await page.reload();
    await expect.poll(() => shownOn(page)).toEqual(['button']);
    await choices(page).click();
    await settings.getByRole('status').getByText('Opt-out request honored').waitFor();
    await look(page, 'place-settings');
  });

  it('allowing after an objection takes a second step, also in place of a video; refusing takes none', async () => {
    const { page, context } = await widget.visit();
    await go(context, 'Los Angeles');
    const film = '<iframe title="Film" data-assent="marketing" data-src="/film" width="280" height="260"></iframe>';
    await page.goto(widget.add('/film-page', config({ regions }) + widget.tag(), film));
    await choices(page).last().click();
    await click(page, 'Reject all');
    await widget.records(1);
    // what is shown once is not taken away
    await page.reload();
    const question = page.getByRole('dialog').getByText('Do you want to allow this again? Marketing', { exact: false });
    await click(page, 'Always allow Marketing');
    await question.waitFor();
    await look(page, 'place-again');
    await click(page, 'Cancel');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await choices(page).click();
    await click(page, 'Save choice');
    await widget.records(2);
    await choices(page).click();
    await click(page, 'Accept all');
    await page.getByText('Do you want to allow this again? Statistics · Marketing').waitFor();
    expect((await widget.records(2)).map(({ decision }) => decision)).toEqual(['reject_all', 'reject_all']);
    await click(page, 'Allow again');
    expect((await widget.records(3))[2]).toMatchObject({
      decision: 'accept_all',
      source: 'preferences',
      model: 'opt_out',
    });
    await choices(page).click();
    await click(page, 'Withdraw consent');
    expect((await widget.records(4))[3]).toMatchObject({ decision: 'withdraw', model: 'opt_out' });
  });

  it('an objection does not expire, by age, policy or a new category, nor is asked about elsewhere', async () => {
    const { page, context } = await widget.visit();
    await go(context, 'Los Angeles');
    const address = add('/');
    await page.goto(address);
    await expect.poll(() => shownOn(page)).toEqual(['notice', 'button']);
    await page.evaluate(() => window.assent?.withdraw());
    expect(await widget.records(1)).toMatchObject([{ decision: 'reject_all', source: 'api', model: 'opt_out' }]);
    await age(page);
    const later = add('/later', '', { policyVersion: '2', categories: 'analytics marketing functional' });
    for (const place of ['Los Angeles', 'Singapore', 'Berlin', 'London', 'nowhere'] as const)
      await step(place, async () => {
        await go(context, place);
        await page.goto(later);
        await expect.poll(() => shownOn(page)).toEqual(['button']);
        expect(await page.evaluate(() => window.seen)).toEqual(['ready', 'necessary']);
        expect((await consentIn(page))?.preferences).toEqual({ analytics: false, marketing: false, functional: false });
      });
    await widget.records(1);
    await step('allowing takes the second step there, too', async () => {
      await page.locator('.reopen').click();
      await click(page, 'Accept all');
      await page.getByText('Do you want to allow this again?').waitFor();
      await click(page, 'Cancel');
    });
    // where nothing is kept any longer, everything is as for somebody new
    await page.evaluate(() => localStorage.clear());
    await page.goto(later);
    await expect.poll(() => shownOn(page)).toEqual(['dialog']);
  });

  it('what was refused where one is asked does not run again by itself: not where all runs, nor what may until an objection', async () => {
    const { page, context } = await widget.visit();
    await go(context, 'London');
    await page.goto(add('/'));
    await click(page, 'Reject all');
    await widget.records(1);
    await age(page);
    const later = add('/later', '', { policyVersion: '2' });
    await step('one is asked again, and meanwhile nothing runs', async () => {
      await page.goto(later);
      await expect.poll(() => shownOn(page)).toEqual(['dialog']);
      expect(await page.evaluate(() => window.seen)).toEqual(['ready', 'necessary']);
      expect(await googles(page)).toMatchObject({ now: 'denied denied' });
    });
    await step('where nobody is asked, it counts as an objection', async () => {
      for (const place of ['Los Angeles', 'Singapore'] as const) {
        await go(context, place);
        await page.goto(later);
        await expect.poll(() => shownOn(page)).toEqual(['button']);
        expect(await page.evaluate(() => window.seen)).toEqual(['ready', 'necessary']);
      }
    });
    await widget.records(1);
  });

  it('a choice holds in all places; who has made none is asked where one is asked', async () => {
    const { page, context } = await widget.visit();
    const address = add('/');
    const visit = async (place: keyof typeof places) => {
      await go(context, place);
      await page.goto(address);
    };
    await visit('Singapore');
    await expect.poll(() => shownOn(page)).toEqual([]);
    await visit('Berlin');
    await expect.poll(() => shownOn(page)).toEqual(['dialog']);
    await visit('Singapore');
    await expect.poll(() => shownOn(page)).toEqual([]);
    await visit('Berlin');
    await click(page, 'Reject all');
    expect(await widget.records(1)).toMatchObject([{ decision: 'reject_all', model: 'opt_in', country: 'DE' }]);
    for (const place of ['Singapore', 'Los Angeles', 'London'] as const) {
      await visit(place);
      await expect.poll(() => shownOn(page)).toEqual(['button']);
      expect(await page.evaluate(() => window.seen)).toEqual(['ready', 'necessary']);
    }
  });

  it('a signal switched on after an acceptance objects once; switched off, it allows nothing', async () => {
    const { page, context } = await widget.visit();
    await go(context, 'Los Angeles');
    const [plain, signalled] = [add('/'), add('/signal', signal)];
    await page.goto(plain);
    await choices(page).last().click();
    await click(page, 'Accept all');
    await widget.records(1);
    for (const _ of [1, 2]) {
      await page.goto(signalled);
      await expect.poll(() => shownOn(page)).toEqual(['honored', 'button']);
      expect(await page.evaluate(() => window.seen?.filter((each) => each !== 'change'))).toEqual([
        'ready',
        'necessary',
      ]);
    }
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('body');
    await look(page, 'place-honored');
    expect((await widget.records(2))[1]).toMatchObject({ decision: 'reject_all', source: 'gpc' });
    await page.goto(plain);
    await expect.poll(() => shownOn(page)).toEqual(['button']);
    expect(await page.evaluate(() => window.seen)).toEqual(['ready', 'necessary']);
    await page.goto(signalled);
    await click(page, 'Close');
    await page.reload();
    await expect.poll(() => shownOn(page)).toEqual(['button']);
    await choices(page).click();
    await page.getByRole('dialog').getByRole('status').getByText('Opt-out request honored').waitFor();
    // what is chosen under the signal holds
    await click(page, 'Accept all');
    await click(page, 'Allow again');
    await widget.records(3);
    await page.reload();
    await expect.poll(() => shownOn(page)).toEqual(['button']);
    expect(await page.evaluate(() => window.seen?.includes('marketing'))).toBe(true);
    await widget.records(3);
  });

  it('one can object though the settings do not come, and where the site has a link instead of the button', async () => {
    const { page, context } = await widget.visit();
    await go(context, 'Los Angeles');
    await page.route('**/assent-preferences-*.js', (route) => route.abort());
    await page.goto(add('/', '', { button: 'none' }));
    await expect.poll(() => shownOn(page)).toEqual(['notice']);
    await choices(page).click();
    await page.getByRole('dialog').getByText('The settings could not be loaded.').waitFor();
    await click(page, 'Reject all');
    expect(await widget.records(1)).toMatchObject([{ decision: 'reject_all', source: 'banner', model: 'opt_out' }]);
    await page.reload();
    await expect.poll(() => shownOn(page)).toEqual([]);
  });
});
