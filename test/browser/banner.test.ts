import { describe, expect, it } from 'vitest';
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
});
