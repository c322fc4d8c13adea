import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { publishedNotices } from '#libs/widget/published-notices';
import { createPublisher } from '../support/banner.ts';
import { click } from '../support/browser/browser.ts';
import { html } from '../support/browser/site.ts';
import { useWidget, warningsIn } from '../support/browser/widget.ts';
import { createCli } from '../support/cli.ts';
import { useStackWithApi } from '../support/stack.ts';

describe('a published banner', () => {
  const widget = useWidget(useStackWithApi);
  const publish = (settings: object) => createPublisher(widget.stack).publish(settings);

  it('needs one tag: its texts are shown, and its version is recorded with the notice that was expected', async () => {
    await publish({});
    const { version } = await publish({
      company: 'Example Shop',
      categories: ['analytics'],
      texts: { de: { title: 'Ihre Wahl bei uns' } },
      lang: 'de',
    });
    const { domainId, api, sql } = widget.stack;
    const src = `${api.baseUrl}/w/${domainId}.js`;
    const { page, messages } = await widget.visit.again();
    const policy = { 'content-security-policy': "script-src 'nonce-abc' 'strict-dynamic'" };
    // what visitors may write, or a former tag: not looked at
    const former = `<script type="text/plain" src="${api.baseUrl}/widget.js" data-domain="dom_x" data-key="ak_x"></script>`;
    const tags = {
      'under a strict policy': `<script nonce="abc" src="${src}" data-position="left" defer></script>${former}`,
      'as a module': `<script nonce="abc" type="module" src="${src}"></script>`,
    };
    let count = 0;
    for (const [name, tag] of Object.entries(tags)) {
      await page.goto(widget.site.add(`/${count}`, html('', tag), policy));
      await page.getByRole('dialog', { name: 'Ihre Wahl bei uns' }).waitFor();
      await click(page, 'Anpassen');
      await click(page, 'Alle ablehnen');
      count += 1;
      const record = (await widget.records(count)).at(-1);
      expect([name, record]).toMatchObject([name, { bannerVersion: String(version), language: 'de' }]);
      const expected = await sql`
        select from expected_notices where hash = decode(${record?.notice ?? ''}, 'hex')
          and domain_number = (select number from domains where id = ${domainId})`;
      expect(expected.length).toBe(1);
      await page.evaluate(() => localStorage.clear());
    }
    expect(warningsIn(messages)).toEqual([]);
  });

  it('is the same with a pinned tag, which has its settings and its key', async () => {
    const { version } = await publish({ texts: { title: 'Pinned </script>' } });
    const { domainId, api, env } = widget.stack;
    const cli = createCli({ ...env, PUBLIC_URL: api.baseUrl });
    const { stdout: tag } = await cli.run('banner', 'show', domainId, '--pinned');
    const { page, messages } = await widget.visit.again();
    await page.goto(widget.site.add('/pinned', html('', tag)));
    await page.getByRole('dialog', { name: 'Pinned </script>' }).waitFor();
    await click(page, 'Accept all');
    expect((await widget.records(1)).at(-1)).toMatchObject({ bannerVersion: String(version) });
    expect(warningsIn(messages)).toEqual([]);
  });

  it('was noted byte for byte when it was published: each language and variant, and the signal', async () => {
    const settings = {
      company: 'Example Shop',
      texts: { intro: 'Biscuits?', de: { title: 'Ihre Wahl bei uns' }, 'pt-BR': { title: 'Sua escolha' } },
      categories: ['analytics', { id: 'maps', label: 'Maps', services: [{ name: 'Map', cookies: [{ name: '_m*' }] }] }],
      experiment: {
        id: 'autumn',
        variants: [
          { name: 'plain' },
          { name: 'short', settings: { texts: { title: 'In short', de: { title: 'Kurz' } } } },
        ],
      },
    };
    const { version } = await publish(settings);
    const { domainId, api, sql } = widget.stack;
    // 255 draws the last variant; only that draw takes four bytes
    const drawn = `
      const { search } = location;
      const random = crypto.getRandomValues.bind(crypto);
      crypto.getRandomValues = (bytes) => (bytes.length === 4 ? bytes.fill(/short/.test(search) ? 255 : 0) : random(bytes));
      if (/gpc/.test(search)) Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true });`;
    const { page, messages } = await widget.visit.again({ reducedMotion: 'reduce' });
    await page.addInitScript(drawn);
    const noted = [...publishedNotices(settings, String(version))];
    // each language in each variant, in turn with the signal and without
    const visited = noted.filter(({ gpc }, index) => gpc === (Math.floor(index / 2) % 2 === 0));
    const pages = new Map(
      [...new Set(noted.map(({ language }) => language))].map((language) => [
        language,
        widget.add(`/${language}`, `<script src="${api.baseUrl}/w/${domainId}.js"></script>`, '', `lang="${language}"`),
      ]),
    );
    expect(pages.size).toBeGreaterThan(33);
    for (const { language, variant, gpc } of visited) {
      await page.goto(`${pages.get(language)}?${variant}${gpc ? '&gpc' : ''}`);
      const recorded = page.waitForResponse(/\/record$/);
      await page.locator('assent-widget dialog button').first().click();
      await recorded;
      await page.evaluate(() => localStorage.clear());
    }
    const records = await widget.records(visited.length);
    const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(
      records.map(({ language, variant, gpc, notice }) => ({ language, variant, gpc: gpc ?? false, notice })),
    ).toEqual(visited.map(({ language, variant, gpc, text }) => ({ language, variant, gpc, notice: hashOf(text) })));
    const expected = await sql`
      select encode(hash, 'hex') as hash from expected_notices
      where domain_number = (select number from domains where id = ${domainId})`;
    expect(expected.map(({ hash }) => hash).sort()).toEqual(noted.map(({ text }) => hashOf(text)).sort());
    expect(warningsIn(messages)).toEqual([]);
  });
});
