/** The widget beside what other people's pages run: the real libraries, fetched when this runs. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { unpackPackages } from '../../../scripts/stack/packages.ts';
import { click } from '../../support/browser/browser.ts';
import { html } from '../../support/browser/site.ts';
import { consentIn, useWidget, warningsIn } from '../../support/browser/widget.ts';
import { fromNpm } from '../../support/npm-packages.ts';
import { useStack } from '../../support/stack.ts';

const script = { 'content-type': 'text/javascript; charset=utf-8' };
const held = '(window.seen ??= []).push("ran")';

describe('the widget', () => {
  const widget = useWidget(() => useStack());
  const addFile = (name: string, file: string) => widget.site.add(name, readFileSync(file, 'utf8'), script);
  /** Accepts, and sees the choice stored, recorded and applied. */
  const accepts = async (address: string) => {
    const { page, messages } = await widget.open(address);
    await page.getByRole('dialog').waitFor();
    await page.waitForFunction(() => document.documentElement.dataset.ready);
    await click(page, 'Accept all');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.waitForFunction(() => window.seen?.length);
    const [record] = await widget.records(1);
    expect(await consentIn(page)).toMatchObject({ id: record?.id, decision: 'accept_all' });
    expect(record?.preferences).toEqual({ analytics: true, marketing: true });
    await click(page, 'Privacy settings');
    await page.locator('dialog:modal').waitFor();
    expect(await page.evaluate(() => window.seen)).toEqual(['ran']);
    expect(warningsIn(messages)).toEqual([]);
    return page;
  };

  it.each<[string, () => Promise<string>, string]>([
    [
      'Prototype 1.7.3',
      async () => path.join(await unpackPackages(['libjs-prototype']), 'usr/share/javascript/prototype/prototype.js'),
      'Array.from !== array && Prototype.Version === "1.7.3"',
    ],
    [
      'MooTools 1.4.5',
      async () =>
        path.join(await unpackPackages(['libjs-mootools']), 'usr/share/javascript/mootools/mootools-core-nc.js'),
      'MooTools.version.startsWith("1.4")',
    ],
    [
      'Sugar 1.4.1',
      async () => path.join(await fromNpm('sugar@1.4.1'), 'node_modules/sugar/release/sugar-full.development.js'),
      'Array.prototype.sortBy !== undefined',
    ],
    [
      'zone.js 0.14, which Angular loads',
      async () => path.join(await fromNpm('zone.js@0.14.10'), 'node_modules/zone.js/bundles/zone.umd.js'),
      'Promise.name === "ZoneAwarePromise"',
    ],
  ])('works on a page with %s', async (_, fetched, isThere) => {
    addFile('/library.js', await fetched());
    const before = '<script>var array = Array.from, keys = Object.keys</script><script src="/library.js"></script>';
    const after = `<script>if (${isThere}) document.documentElement.dataset.ready = 'yes'</script>`;
    const waits = `<script type="text/plain" data-assent="analytics">${held}</script>`;
    await accepts(widget.site.add('/page', html(before + widget.tag() + after, waits)));
  });

  it.each(['before', 'after'])(
    'works where React 18.2 makes the whole document anew, with the tag %s it',
    async (when) => {
      const modules = path.join(await fromNpm('react@18.2.0', 'react-dom@18.2.0'), 'node_modules');
      const load = createRequire(path.join(modules, 'x.js'));
      const [{ createElement: element }, { renderToString }] = ['react', 'react-dom/server'].map(load);
      addFile('/react.js', path.join(modules, 'react/umd/react.production.min.js'));
      addFile('/react-dom.js', path.join(modules, 'react-dom/umd/react-dom.production.min.js'));
      const { domainId, apiKey, api } = widget.stack;
      const tag = { src: `${api.baseUrl}/widget.js`, 'data-domain': domainId, 'data-key': apiKey, defer: true };
      const scripts = ['/react.js', '/react-dom.js', '/site.js'].map((src) => ({ src, defer: true }));
      const all = when === 'before' ? [tag, ...scripts] : [...scripts, tag];
      /** what the site's code is, on its server and in the browser */
      const app = (make: typeof element, of: object[], code: string) =>
        make(
          'html',
          { lang: 'en' },
          make(
            'head',
            null,
            make('title', null, 'A shop'),
            ...of.map((props, key) => make('script', { ...props, key })),
          ),
          make(
            'body',
            null,
            make('h1', null, 'A shop'),
            make('script', {
              type: 'text/plain',
              'data-assent': 'analytics',
              dangerouslySetInnerHTML: { __html: code },
            }),
          ),
        );
      widget.site.add(
        '/site.js',
        `const app = ${app};
      const first = document.documentElement.firstElementChild;
      ReactDOM.hydrateRoot(document, app(React.createElement, ${JSON.stringify(all)}, ${JSON.stringify(held)}), {
        onRecoverableError() { window.wasThrownAway = true; },
      });
      // once React has made its document
      const look = () => document.querySelector('h1') && document.documentElement.firstElementChild !== first
        ? document.documentElement.dataset.ready = 'yes'
        : requestAnimationFrame(look);
      look();`,
        script,
      );
      const markup = renderToString(app(element, all, held));
      // the widget's element is what React trips over, or something else is before it comes
      const given = when === 'before' ? markup : markup.replace('A shop</h1>', 'Another shop</h1>');
      const page = await accepts(widget.site.add('/shop', `<!doctype html>${given}`));
      expect(await page.evaluate('wasThrownAway')).toBe(true);
    },
  );
});
