import { gzipSync } from 'node:zlib';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click, hasFocus, step } from '../support/browser/browser.ts';
import { type Customer, managerOf, useDashboard } from '../support/browser/dashboard.ts';
import { violations } from '../support/browser/look.ts';
import { html, startSite } from '../support/browser/site.ts';
import { startApi } from '../support/service.ts';
import { at, useStores } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

// new notices are bounded by address, and all files have the same
const dashboard = useDashboard({ api: await startApi(useStores().env) });

const site = await startSite();
site.add('/favicon.ico', '');

/** What another person who may publish asks of the banner's endpoints. */
const banner = <Body>(customer: Customer, path = '', method = 'GET', body?: object): Promise<Body> =>
  dashboard.manage<Body>(customer, `/domains/${at(customer.domains, 0).domainId}/banner${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
const publisherOf = (customer: Customer) => managerOf(customer, { scope: 'publish', sub: 'cora@northwind.example' });
const widgetOf = (customer: Customer) => `/domains/${at(customer.domains, 0).domainId}/widget`;

describe('setting up the widget in the dashboard', () => {
  const preview = (page: Page): FrameLocator => page.frameLocator('iframe');
  const unfold = (page: Page, title: string) => page.getByRole('heading', { name: title, exact: true }).click();
  const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
  const choose = (page: Page, group: string, name: string) =>
    page.getByRole('group', { name: group }).getByRole('radio', { name, exact: true }).check();
  it('leads from a new domain to the first record of its site, in two languages and own colours', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    const change = { method: 'PATCH', body: JSON.stringify({ origins: [site.origin] }) };
    await dashboard.manage(customer, `/domains/${domainId}`, change);
    // what is chosen, and unfolded, stays in the tab
    const { page, context, messages } = await dashboard.visit();
    await dashboard.enter(page, managerOf(customer), `/domains/${domainId}/widget`);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const posts: string[] = [];
    page.on('request', (request) => request.method() !== 'GET' && posts.push(new URL(request.url()).pathname));
    await page.getByText('Nothing is published yet.', { exact: true }).first().waitFor();
    await page.getByRole('heading', { name: 'Waiting for the first record …' }).waitFor();
    await page.getByText(site.origin).waitFor();
    const waiting = page.getByRole('region', { name: /^Waiting/ });
    await waiting.getByText('The usual causes').waitFor();
    const { apiKey } = at(customer.domains, 0);
    const client = dashboard.client(customer);
    const origin = { origin: 'https://blog.example' };
    expect((await client.record(domainId, apiKey, { decision: 'accept_all' }, origin)).status).toBe(403);
    await waiting.getByText(/^https:\/\/blog.example tried to record at \d\d:\d\d UTC and is not on/).waitFor();
    await click(page, 'Add https://blog.example to the list');
    await waiting.getByText('https://blog.example is on the list now.').waitFor();
    expect(await waiting.getByRole('button').count()).toBe(0);
    await page.getByText(`Records are taken from ${site.origin}, https://blog.example only.`).waitFor();

    const made = [...posts];
    await preview(page).getByRole('button', { name: 'Accept all' }).waitFor();
    // who types keeps the focus, although the widget opens anew
    await field(page, 'Title').focus();
    await page.keyboard.insertText('Biscuits?');
    await preview(page).getByRole('heading', { name: 'Biscuits?' }).waitFor();
    await hasFocus(field(page, 'Title'));
    await page.getByRole('combobox', { name: 'Texts in' }).selectOption('de');
    await field(page, 'Title').fill('Kekse?');
    await field(page, 'Accept').fill('Ja, gern');
    await preview(page).getByRole('heading', { name: 'Kekse?' }).waitFor();
    await preview(page).getByRole('button', { name: 'Alle ablehnen' }).waitFor();

    await unfold(page, 'Colours');
    await field(page, 'Buttons').fill('#0b5d4b');
    await field(page, 'Text of buttons').fill('banana');
    await page.getByText('Not a colour.').waitFor();
    await field(page, 'Text of buttons').fill('#ffffff');
    // beside the colours, and below the form
    const warnings = page
      .locator('.notice')
      .filter({ hasText: 'On dark screens, buttons and switches on the background may' });
    await warnings.nth(1).waitFor();
    await page.getByText('Where the contrast is too low').click();
    await page.getByText(/^Dark: buttons and switches on the background/).waitFor();
    await click(page, 'Show in dark');
    expect(await page.getByRole('radio', { name: 'Dark', exact: true }).first().isChecked()).toBe(true);
    const accept = preview(page).getByRole('button', { name: 'Ja, gern' });
    const colour = () => accept.evaluate((each) => getComputedStyle(each).backgroundColor);
    await eventually(async () => expect(await colour()).toBe('rgb(11, 93, 75)'));

    await unfold(page, 'Categories');
    await field(page, 'Another category').fill('maps');
    await click(page, 'Add category');
    await field(page, 'Name').fill('Karten');
    await unfold(page, 'Position and theme');
    await choose(page, 'Position of the banner', 'Bottom right');
    await click(page, 'Always use the light banner');
    await warnings.first().waitFor({ state: 'detached' });
    expect(await page.getByRole('group', { name: 'Theme' }).getByLabel('Light').isChecked()).toBe(true);
    await choose(page, 'View', 'Settings');
    await preview(page).getByRole('switch', { name: 'Karten' }).waitFor();
    await page.getByText('Services of Karten').click();
    await click(page, 'Add service to Karten');
    const service = page.getByRole('group', { name: 'Service 1' });
    await service.getByRole('textbox', { name: 'Name', exact: true }).fill('Open Map');
    const cookies = service.getByRole('textbox', { name: /^Its cookies/ });
    await cookies.fill('*');
    await service.getByText('Not the name of a cookie: *').waitFor();
    await cookies.fill('map_id; 1 Tag');
    await preview(page).getByText('Dienste für Karten (1)').waitFor();
    // folded below it
    for (const text of ['Open Map', 'map_id', '1 Tag'])
      await preview(page).getByText(text, { exact: true }).waitFor({ state: 'attached' });
    await choose(page, 'View', 'Banner');
    await page.getByText('The banner has no link to a privacy policy.').waitFor();
    const nobody = page.getByText('The banner does not say who asks');
    await nobody.waitFor();
    await unfold(page, 'Company, links and policy');
    await field(page, 'Who asks').fill('Fern GmbH');
    await nobody.waitFor({ state: 'detached' });
    await preview(page)
      .getByText(/^Fern GmbH .*: Statistik · Marketing · Karten$/)
      .waitFor();
    await preview(page).getByRole('heading', { name: 'Kekse?' }).waitFor();

    await unfold(page, 'Behaviour');
    const subdomains = field(page, 'One choice for all subdomains of');
    await subdomains.fill(' https://shop.example:8443/en?a=b');
    expect(await subdomains.inputValue()).toBe('shop.example');
    await subdomains.fill('');
    const months = page.getByRole('spinbutton', { name: 'Months until visitors are asked again' });
    await months.fill('400');
    await months.blur();
    expect(await months.inputValue()).toBe('12');

    // the preview is the real widget, and nothing comes of it
    await accept.evaluate((each: HTMLElement) => each.click());
    await preview(page).getByRole('button', { name: 'Datenschutzeinstellungen' }).waitFor();
    await click(page, 'Show again');
    await preview(page).getByRole('heading', { name: 'Kekse?' }).waitFor();
    expect(posts).toEqual(made);
    expect(await page.evaluate(() => [Object.keys(localStorage), document.cookie])).toEqual([[], '']);
    expect((await client.records(domainId)).body.total).toBe(0);

    await click(page, 'Publish…');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This is the first version.').waitFor();
    await click(page, 'Publish');
    await dialog.getByRole('heading', { name: 'Version 1 is live' }).waitFor();
    await dialog.getByRole('button', { name: 'Copy Script tag' }).click();
    await dialog.getByRole('button', { name: 'Copied Script tag' }).waitFor();
    const tag = await page.evaluate(() => navigator.clipboard.readText());
    expect(tag).toBe(`<script src="${dashboard.api.baseUrl}/w/${domainId}.js" defer></script>`);
    await click(page, 'Close');
    const address = site.add('/shop', html(tag, '<h1>A shop</h1>', 'lang="de"'));
    const visitor = await dashboard.visit({ locale: 'de-DE' });
    await visitor.page.goto(address);
    await visitor.page.getByRole('heading', { name: 'Kekse?' }).waitFor();
    const box = await visitor.page.getByRole('dialog').boundingBox();
    expect(box && box.x + box.width).toBeGreaterThan(1_240);
    await visitor.page.getByRole('button', { name: 'Ja, gern' }).click();
    await page.getByRole('heading', { name: 'The site records' }).waitFor();
    const record = page.getByRole('region', { name: 'The site records' });
    await record.getByText('Accepted all').waitFor();
    await record.getByText(address).waitFor();
    expect(visitor.messages).toEqual([]);
    expect(messages).toEqual([]);
  });

  it('one tag for good: published, changed three times, and put back, without a change of the page', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    // whose token makes no keys
    const { page, messages } = await dashboard.visit();
    await dashboard.enter(page, publisherOf(customer), widgetOf(customer));
    const dialog = page.getByRole('dialog');
    const publish = async (note: string, action = 'Publish') => {
      await field(page, 'Note for colleagues (optional)').fill(note);
      await click(page, action);
      await dialog.getByText('The tag stays the same.').waitFor();
      await click(page, 'Close');
      await hasFocus(page.getByRole('button', { name: action === 'Publish' ? 'Publish…' : /^Put back… version 2/ }));
    };
    const shop = await dashboard.visit();
    // a route takes the browser's cache away
    await shop.context.route('**/w/*', (route) => route.continue());
    const tag = await page.getByRole('region', { name: 'Script tag' }).innerText();
    const address = site.add('/for-good', html(tag, '<h1>A shop</h1>'));
    const seesOutside = (title: string, colour: string) =>
      eventually(async () => {
        await shop.page.goto(address);
        const heading = shop.page.getByRole('heading', { name: title, exact: true });
        await heading.waitFor({ timeout: 2_000 });
        const accept = shop.page.getByRole('button', { name: 'Accept all' });
        expect(await accept.evaluate((each) => getComputedStyle(each).backgroundColor)).toBe(colour);
      });
    const zipped = async () => gzipSync(await (await fetch(`${dashboard.api.baseUrl}/w/${domainId}.js`)).text()).length;

    const withoutSettings = await zipped();
    await field(page, 'Title').fill('Biscuits? </script><!-- <script>');
    await unfold(page, 'Colours');
    await field(page, 'Buttons').fill('#0b5d4b');
    await field(page, 'Text of buttons').fill('#ffffff');
    await click(page, 'Publish…');
    const told = await dialog.getByText(/^These settings add about/).innerText();
    await publish('the first');
    await seesOutside('Biscuits? </script><!-- <script>', 'rgb(11, 93, 75)');
    // the key, which is made with the first version, is in the file from then on
    const about = Number(/about (\d+) bytes/.exec(told)?.[1]) + 'ak_'.length + 32 + ',"key":""'.length;
    expect(Math.abs((await zipped()) - withoutSettings - about)).toBeLessThan(24);

    await field(page, 'Title').fill('Cookies?');
    await click(page, 'Publish…');
    const change = dialog.getByRole('listitem').filter({ hasText: 'Title' });
    await change.getByText('Biscuits? </script><!-- <script>').waitFor();
    await change.getByText('Cookies?').waitFor();
    expect(await dialog.getByRole('listitem').count()).toBe(1);
    expect(await dialog.getByText('Every visitor will be asked again').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await publish('');
    await seesOutside('Cookies?', 'rgb(11, 93, 75)');
    await field(page, 'Buttons').fill('#123456');
    await click(page, 'Publish…');
    await publish('blue');
    await seesOutside('Cookies?', 'rgb(18, 52, 86)');
    await unfold(page, 'Categories');
    await page.getByRole('checkbox', { name: /functional/ }).check();
    await click(page, 'Publish…');
    await dialog.getByText('Every visitor will be asked again').waitFor();
    await publish('comfort');
    await page.getByText('Saved. It is what version 4 shows, which is live.').waitFor();

    await step('publishing without changes is said', async () => {
      await click(page, 'Publish…');
      await dialog.getByRole('heading', { name: 'Nothing has changed' }).waitFor();
      await click(page, 'Close');
    });
    const versions = page.getByRole('region', { name: 'Versions' });
    const rows = versions.getByRole('listitem');
    expect(await rows.count()).toBe(4);
    await rows
      .first()
      .getByText(/^Since .*, by cora@northwind.example$/)
      .waitFor();
    await rows.first().getByText('Asked again').waitFor();
    await rows.nth(1).getByText('blue').waitFor();
    await click(page, 'Changes of version 3');
    await dialog.getByRole('listitem').filter({ hasText: 'Colour: Buttons' }).getByText('#123456').waitFor();
    await page.getByRole('combobox', { name: 'Compared with' }).selectOption('live');
    await dialog.getByRole('listitem').filter({ hasText: 'functional' }).waitFor();
    await click(page, 'Close');

    await click(page, 'Put back… version 2');
    await dialog.getByText('Every visitor will be asked again').waitFor();
    await publish('it was better', 'Put back');
    await rows.first().getByText('Version 2 again').waitFor();
    await seesOutside('Cookies?', 'rgb(11, 93, 75)');
    // the draft stays
    await page.getByText('Saved. It is not published: version 5 is live.').waitFor();
    expect(await field(page, 'Buttons').inputValue()).toBe('#123456');
    expect([...shop.messages, ...messages]).toEqual([]);
  });

  it('of two who save at once, the second sees both drafts and chooses', async () => {
    const customer = await dashboard.customer();
    const { page } = await dashboard.open(publisherOf(customer), widgetOf(customer));
    const dialog = page.getByRole('dialog', { name: /^Somebody else saved another draft/ });
    await field(page, 'Title').fill('Mine?');
    const theirs = { texts: { title: 'Theirs?' }, company: 'Fern GmbH' };
    await banner(customer, '', 'PUT', theirs);
    await click(page, 'Save draft');
    const title = dialog.getByRole('listitem').filter({ hasText: 'Title' });
    await title.getByText('Theirs?').waitFor();
    await title.getByText('Mine?').waitFor();
    await click(page, 'Keep theirs');
    await preview(page).getByRole('heading', { name: 'Theirs?' }).waitFor();
    expect(await banner(customer)).toEqual(theirs);
    await field(page, 'Title').fill('Mine!');
    await banner(customer, '', 'PUT', { texts: { title: 'Theirs!' } });
    await click(page, 'Publish…');
    await click(page, 'Save mine');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Nothing is published yet.').first().waitFor();
    expect(await banner(customer)).toEqual({ texts: { title: 'Mine!' }, company: 'Fern GmbH' });
  });

  it('who publishes after somebody else did sees theirs, with what is live, and loses nothing', async () => {
    const customer = await dashboard.customer();
    await banner(customer, '', 'PUT', { texts: { title: 'First?' } });
    await banner(customer, '/publish', 'POST', {});
    const { page } = await dashboard.open(publisherOf(customer), widgetOf(customer));
    const conflict = page.getByRole('dialog', { name: /^Somebody else saved another draft/ });
    const publishing = page.getByRole('dialog', { name: 'Publish these changes?' });
    const versions = page.getByRole('region', { name: 'Versions' }).getByRole('listitem');
    const theyPublish = async (title: string) => {
      await banner(customer, '', 'PUT', { texts: { title } });
      await banner(customer, '/publish', 'POST', {});
    };
    await field(page, 'Title').fill('Mine?');
    await click(page, 'Publish…');
    await field(page, 'Note for colleagues (optional)').fill('autumn');
    await theyPublish('Theirs?');
    await click(page, 'Publish');
    await conflict.getByText(/^Theirs is live already: version 2, published by /).waitFor();
    await conflict.getByText('Mine?').waitFor();
    expect(await versions.count()).toBe(2);
    expect(await banner(customer, '/versions')).toMatchObject({ versions: [{ version: 2 }, { version: 1 }] });

    // saved once, overwritten since: only this tab has it
    await page.reload();
    await page.getByText('Unsaved changes: only this tab has them.').waitFor();
    expect(await field(page, 'Title').inputValue()).toBe('Mine?');
    await click(page, 'Publish…');
    await click(page, 'Save mine');
    await page.getByText('Saved. It is not published: version 2 is live.').waitFor();
    await click(page, 'Publish…');
    await field(page, 'Note for colleagues (optional)').fill('autumn');
    await banner(customer, '', 'PUT', { texts: { title: 'Theirs!' } });
    await click(page, 'Publish');
    await conflict.getByText(/the other one is gone then/).waitFor();
    await click(page, 'Save mine');
    await conflict.waitFor({ state: 'detached' });
    expect(await field(page, 'Note for colleagues (optional)').inputValue()).toBe('autumn');
    await click(page, 'Publish');
    await page.getByRole('heading', { name: 'Version 3 is live' }).waitFor();
    await click(page, 'Close');
    expect(await banner(customer)).toEqual({ texts: { title: 'Mine?' } });

    await field(page, 'Title').fill('Mine!');
    await click(page, 'Save draft');
    await page.getByText('Saved. It is not published: version 3 is live.').waitFor();
    await banner(customer, '/publish', 'POST', { version: 1 });
    await click(page, 'Publish…');
    await publishing.getByText('First?').waitFor();
    await click(page, 'Cancel');
    await page.getByText('Saved. It is not published: version 4 is live.').waitFor();
    await versions.first().getByText('Version 1 again').waitFor();
  });

  it('says which setting is wrong, keeps in this tab what is half written, and that the preview is missing', async () => {
    const customer = await dashboard.customer();
    const { page } = await dashboard.open(publisherOf(customer), widgetOf(customer));
    for (const title of ['Categories', 'Company, links and policy']) await unfold(page, title);
    await page.getByText('Services of Statistics').click();
    await click(page, 'Add service to Statistics');
    const policy = field(page, 'Address of your privacy policy');
    await policy.fill('javascript:');
    await field(page, 'Title').fill('Kekse?');
    await field(page, 'Introduction').focus();
    await page.keyboard.insertText('x'.repeat(2_500));
    expect(await field(page, 'Introduction').inputValue()).toHaveLength(2_500);
    await click(page, 'Save draft');
    const alert = page.getByRole('alert');
    await alert.getByText('Categories analytics, service 1, name: Must be a text that is not empty.').waitFor();
    await alert.getByText(/^Address of your privacy policy: Must be an address with https/).waitFor();
    expect(await banner(customer)).toEqual({});
    await page.getByText('Unsaved changes: only this tab has them.').waitFor();
    const written = async () => [
      await policy.inputValue(),
      await field(page, 'Title').inputValue(),
      await page.getByRole('textbox', { name: /^Its cookies/ }).count(),
    ];
    const expected = ['javascript:', 'Kekse?', 1];
    await eventually(async () => expect(await written()).toEqual(expected));

    // not the frame itself: Playwright lets through what a frame asks for that it does not know yet
    const script = '**/widget-preview/preview.js';
    await page.route(script, (route) => route.abort());
    await page.reload();
    await page.getByText('The preview could not be loaded.').waitFor();
    expect(await written()).toEqual(expected);
    await page.unroute(script);
    await click(page, 'Try again');
    await preview(page).getByRole('heading', { name: 'Kekse?' }).waitFor();
    await click(page, 'Discard');
    await hasFocus(page.getByRole('button', { name: 'Save draft' }));
    await eventually(async () => expect(await written()).toEqual(['', '', 0]));
    await page.getByText('Nothing is published yet.').first().waitFor();
    expect(await page.evaluate(() => Object.keys(sessionStorage).filter((name) => /draft/.test(name)))).toEqual([]);
    await step('on a phone the preview comes first, and stays in sight', async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.evaluate(() => scrollTo(0, 0));
      const heading = (name: string) => page.getByRole('heading', { name, exact: true });
      const [stage, texts, behaviour] = [
        page.locator('.widget-stage'),
        heading('Languages and texts'),
        heading('Behaviour'),
      ] as const;
      const edge = (of: Locator, side: 'top' | 'bottom') =>
        of.evaluate((each, which) => each.getBoundingClientRect()[which], side);
      await eventually(async () => expect(await edge(stage, 'bottom')).toBeLessThan(await edge(texts, 'top')));
      await behaviour.scrollIntoViewIfNeeded();
      expect(await edge(texts, 'top')).toBeLessThan(0);
      expect(await edge(stage, 'top')).toBeGreaterThan(0);
      expect(await edge(stage, 'bottom')).toBeLessThan(await edge(behaviour, 'top'));
      // the whole of the banner, however long its texts are
      await choose(page, 'Width', 'Phone');
      await page.getByRole('combobox', { name: 'Language', exact: true }).selectOption('de');
      const [title, last] = [
        preview(page).getByRole('heading', { name: 'Ihre Daten, Ihre Entscheidung' }),
        preview(page).getByRole('button', { name: 'Anpassen' }),
      ] as const;
      await eventually(async () => {
        const [top, scale] = await page.locator('iframe').evaluate((frame: HTMLIFrameElement) => {
          const drawn = frame.getBoundingClientRect();
          return [drawn.top, drawn.width / frame.offsetWidth] as const;
        });
        expect(top + (await edge(title, 'top')) * scale).toBeGreaterThan(await edge(stage, 'top'));
        expect(top + (await edge(last, 'bottom')) * scale).toBeLessThan(await edge(stage, 'bottom'));
      });
    });
  });

  it('puts its draft into those of other domains, which keep what is theirs, and says which did not take it', async () => {
    const customer = await dashboard.customer({ domains: ['blog.example', 'shop.example', 'news.example'] });
    const [blog, shop, news] = [at(customer.domains, 0), at(customer.domains, 1), at(customer.domains, 2)];
    const draftOf = ({ domainId }: { domainId: string }, body?: object) =>
      dashboard.manage(customer, `/domains/${domainId}/banner`, body && { method: 'PUT', body: JSON.stringify(body) });
    await draftOf(blog, { texts: { title: 'Biscuits?' }, company: 'Fern GmbH', position: 'center' });
    await draftOf(shop, { company: 'Moss AG', policyUrl: '/privacy', theme: 'dark' });
    const { page } = await dashboard.open(publisherOf(customer), `/domains/${blog.domainId}/widget`);
    const dialog = page.getByRole('dialog');
    let isRefused = true;
    await page.route(`**/domains/${news.domainId}/banner`, (route) => (isRefused ? route.abort() : route.continue()));
    await click(page, 'Use for other domains…');
    await click(page, 'Choose all');
    await click(page, 'Replace their drafts');
    await dialog.getByText('1 draft saved, 1 not saved:').waitFor();
    await dialog.getByText(/^news\.example: /).waitFor();
    expect(await draftOf(shop)).toEqual({
      texts: { title: 'Biscuits?' },
      company: 'Moss AG',
      policyUrl: '/privacy',
      position: 'center',
    });
    // what is left can be tried again
    isRefused = false;
    await dialog.getByText('1 chosen').waitFor();
    await click(page, 'Replace their drafts');
    await dialog.getByText('1 draft saved', { exact: true }).waitFor();
    expect(await draftOf(news)).toEqual({ texts: { title: 'Biscuits?' }, position: 'center' });
    await click(page, 'Close');
  });

  it('starts from another domain’s banner, and tests variants of it side by side', async () => {
    const customer = await dashboard.customer({ domains: ['blog.example', 'shop.example'] });
    const [blog, shop] = [at(customer.domains, 0), at(customer.domains, 1)];
    const settings = { texts: { title: 'Biscuits?', de: { title: 'Kekse?' } }, company: 'Fern GmbH', policyUrl: '/p' };
    await banner(customer, '', 'PUT', settings);
    const { page } = await dashboard.open(publisherOf(customer), `/domains/${shop.domainId}/widget`);
    const dialog = page.getByRole('dialog');
    await click(page, 'Start from another domain…');
    await page.getByRole('combobox', { name: 'Domain' }).selectOption(blog.domainId);
    await click(page, 'Use these settings');
    await dialog.getByText('This domain has published nothing yet.').waitFor();
    await choose(page, 'Use', 'Its draft');
    await click(page, 'Use these settings');
    await dialog.waitFor({ state: 'detached' });
    await preview(page).getByRole('heading', { name: 'Biscuits?' }).waitFor();

    await unfold(page, 'A/B test');
    await click(page, 'Start an A/B test');
    await field(page, 'Name of the test').fill('autumn');
    const second = page.getByRole('group', { name: 'Variant 2' }).getByRole('textbox', { name: 'Name', exact: true });
    await second.fill('plain');
    await page.getByText('Another variant has this name.').waitFor();
    await page.getByText('plain-2', { exact: true }).waitFor();
    expect(await page.locator('iframe[title^="The variant"]').count()).toBe(2);
    await second.fill('short');
    await page.getByRole('group', { name: 'Variant 1' }).getByRole('spinbutton').fill('3');
    await click(page, 'Texts and colours of short');
    const edited = page.getByRole('combobox', { name: 'Texts, colours and position of' });
    await hasFocus(edited);
    await field(page, 'Title').fill('Cookies?');
    await unfold(page, 'Colours');
    await field(page, 'Buttons').fill('#777777');
    await field(page, 'Background').fill('#fff8');
    await page.getByText('The background has to be opaque').waitFor();
    const frame = (name: string) => page.frameLocator(`iframe[title="The variant ${name}"]`);
    await frame('plain').getByRole('heading', { name: 'Biscuits?' }).waitFor();
    await frame('short').getByRole('heading', { name: 'Cookies?' }).waitFor();
    const buttonOf = (name: string) =>
      frame(name)
        .getByRole('button', { name: 'Accept all' })
        .evaluate((each) => getComputedStyle(each).backgroundColor);
    await eventually(async () => expect(await buttonOf('short')).toBe('rgb(119, 119, 119)'));
    expect(await buttonOf('plain')).not.toBe('rgb(119, 119, 119)');
    await page.getByText('Variant short: On light screens, the text on buttons may be hard to see (4.48 : 1').waitFor();
    // two frames, which have their own document
    expect(await violations(page)).toEqual([]);
    await edited.selectOption('all variants');
    expect(await field(page, 'Title').inputValue()).toBe('Biscuits?');
    await click(page, 'Save draft');
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    const saved = await dashboard.manage(customer, `/domains/${shop.domainId}/banner`);
    const short = { name: 'short', settings: { texts: { title: 'Cookies?' }, colors: { button: '#777777' } } };
    const experiment = { id: 'autumn', variants: [{ name: 'plain', share: 3 }, short] };
    expect(saved).toEqual({ ...settings, experiment });
  });

  it('who may only read sees the banner, and why it cannot be changed', async () => {
    const customer = await dashboard.customer();
    await banner(customer, '', 'PUT', { texts: { title: 'Biscuits?' } });
    await banner(customer, '/publish', 'POST', { note: '' });
    await dashboard.db.run(
      (sql) => sql`
        insert into banner_versions (domain_number, number, published_by, settings, asks_again)
        select domain_number, number + each, published_by, settings, asks_again
        from banner_versions, generate_series(1, 60) as each
        where domain_number = (select number from domains where id = ${at(customer.domains, 0).domainId})`,
    );
    const { page, context } = await dashboard.visit();
    // what somebody else has typed in this tab
    const typed = JSON.stringify({ draft: { texts: { title: 'Kekse?' } }, tag: '"1"' });
    const name = `assent-draft ${at(customer.domains, 0).domainId}`;
    await context.addInitScript(([key, value]) => sessionStorage.setItem(key, value), [name, typed] as const);
    await dashboard.enter(page, customer, widgetOf(customer));
    await page.getByText('You see this banner, but cannot change it').waitFor();
    await preview(page).getByRole('heading', { name: 'Biscuits?' }).waitFor();
    expect(await field(page, 'Title').isDisabled()).toBe(true);
    await page.getByText('If the domain has a list of origins').waitFor();
    const list = page.getByRole('region', { name: 'Versions' }).getByRole('listitem');
    await list.first().getByText('Version 61', { exact: true }).waitFor();
    expect(await list.count()).toBeLessThan(61);
    await click(page, 'Older versions');
    await page.getByRole('button', { name: 'Changes of version 1', exact: true }).waitFor();
    expect(await list.count()).toBe(61);
    expect(await page.getByRole('button', { name: /Publish|Save draft|Put back/ }).count()).toBe(0);
    await dashboard.enter(page, managerOf(customer, { scope: 'privacy' }), widgetOf(customer));
    await page.getByText('Your access token does not allow this page').waitFor();
    await dashboard.manage(customer, `/domains/${at(customer.domains, 0).domainId}`, { method: 'DELETE' });
    await dashboard.enter(page, publisherOf(customer), widgetOf(customer));
    await page.getByText('This domain is archived: its tag shows no banner').waitFor();
    await page.getByRole('button', { name: 'Save draft' }).waitFor();
    expect(await page.getByRole('button', { name: /Publish|Put back/ }).count()).toBe(0);
  });
});
