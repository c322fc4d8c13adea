import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click, step } from '../support/browser/browser.ts';
import { builtInsIn, hostilePage, type Way } from '../support/browser/built-ins.ts';
import { config, html } from '../support/browser/site.ts';
import { useWidget, warningsIn } from '../support/browser/widget.ts';
import { useStackWithApi } from '../support/stack.ts';

describe('the widget on whatever page', () => {
  // an API of its own: new notices of an address are bounded, and other files send some too
  const widget = useWidget(useStackWithApi);

  const seen = (page: Page) => page.evaluate(() => window.seen ?? []);
  const forget = (page: Page) => page.evaluate(() => localStorage.clear());
  const accept = async (page: Page) => {
    await click(page, 'Accept all');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };

  it('finds domain, key and service however its tag came into the page, and trusts nothing that markup can name', async () => {
    const { domainId, apiKey, api } = widget.stack;
    const src = `${api.baseUrl}/widget.js`;
    const query = `${src}?domain=${domainId}&key=${apiKey}`;
    const data = `data-domain="${domainId}" data-key="${apiKey}"`;
    const elsewhere = 'data-domain="dom_x" data-key="ak_x" data-api="https://elsewhere.example"';
    const markup = `<img name="currentScript" ${elsewhere}><a href="/widget.js" ${elsewhere}></a>
      <form id="assentConfig"><input name="domain" value="dom_x"></form>`;
    // other services have files of that name, too
    const foreign = ['', 'data-key="XYZ"', 'data-domain="example.com"'].map(
      (attributes) => `<script type="application/json" src="https://other.example/widget.js" ${attributes}></script>`,
    );
    /** As tag managers and optimizers do it: what they put in is theirs alone. */
    const made = (attributes: object, where = 'document.head') =>
      `<script>${where}.append(Object.assign(document.createElement('script'), ${JSON.stringify(attributes)}))</script>`;
    const shadow = "document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' })";
    const inShadow = `<script>{
      const script = Object.assign(document.createElement('script'), { src: '${src}' });
      Object.assign(script.dataset, { domain: '${domainId}', key: '${apiKey}' });
      ${shadow}.append(script);
    }</script>`;
    const delayed = `<script type="text/delayed" data-delayed-src="${src}" ${data}></script>`;
    const asBlob = `<script>fetch('${src}').then((file) => file.blob()).then((file) => {
      document.head.append(Object.assign(document.createElement('script'), { src: URL.createObjectURL(file) }));
    })</script>`;
    const pages = {
      'a module': `<script type="module" src="${src}" ${data}></script>`,
      'a module with a query': `<script type="module" src="${query}"></script>`,
      'made without attributes, with a query': made({ src: query }),
      'made without attributes, beside the settings': config({ domain: domainId, key: apiKey }) + made({ src }),
      'delayed, and made without attributes': delayed + made({ src }),
      'delayed, and run as a blob': delayed + asBlob,
      'in a shadow tree': inShadow,
      'in a shadow tree, with a query': made({ src: query }, shadow),
      'by attributes rather than the query of another': `<script src="${src}?domain=dom_x&key=ak_x" ${data} defer></script>`,
      twice: widget.tag() + made({ src: query }),
    };
    const { page, messages } = await widget.visit.again();
    let count = 0;
    for (const [name, scripts] of Object.entries(pages))
      await step(name, async () => {
        await page.goto(widget.site.add('/', html('', markup + foreign.join('') + scripts + foreign.join(''))));
        await accept(page);
        count += 1;
        await widget.records(count);
        expect(await page.locator('assent-widget').count()).toBe(1);
        await forget(page);
      });
    expect(warningsIn(messages)).toEqual([]);
  });

  it('comes back where the page replaces its document, and finds what waits there', async () => {
    const held = (word: string) =>
      `<script type="text/plain" data-assent="\n analytics, marketing, ">seen.push('${word}')</script>`;
    const { page } = await widget.open(widget.add('/', `<script>seen = []</script>${widget.tag()}`, held('first')));
    const replace = (body: string) =>
      page.evaluate((markup) => {
        const root = document.createElement('html');
        root.innerHTML = `<head></head><body>${markup}</body>`;
        document.replaceChild(root, document.documentElement);
      }, body);
    await page.getByRole('dialog').waitFor();
    await replace(held('first'));
    await accept(page);
    await widget.records(1);
    await page.waitForFunction(() => window.seen?.length);
    // what has run and is made anew does not run again
    await replace(held('first') + held('second'));
    await page.waitForFunction(() => window.seen?.includes('second'));
    expect(await seen(page)).toEqual(['first', 'second']);
    await click(page, 'Privacy settings');
    await replace('<p>again</p>');
    await page.locator('dialog:modal').waitFor();
    await click(page, 'Close');
    // asked for before the widget has noticed
    await page.evaluate(() => {
      document.replaceChild(document.createElement('html'), document.documentElement);
      window.assent?.open();
    });
    await click(page, 'Withdraw consent');
    await widget.records(2);
    // a page that takes out this element alone means it
    await page.evaluate(() => {
      document.querySelector('assent-widget')?.remove();
      const later = document.createElement('script');
      Object.assign(later, { type: 'text/plain', text: "seen.push('later')" });
      later.dataset.assent = 'necessary';
      document.documentElement.append(later);
    });
    // it has looked at the page since
    await page.waitForFunction(() => window.seen?.includes('later'));
    expect(await page.locator('assent-widget').count()).toBe(0);
  });

  it('a choice is applied and recorded, whatever the page has made of what the language has', async () => {
    const { baseUrl } = widget.stack.api;
    const textOf = async (path: string) => (await fetch(baseUrl + path)).text();
    const script = await textOf('/widget.js');
    const second = await textOf(/\/assent-preferences-\w+\.js/.exec(script)?.[0] ?? '');
    const ways = [...builtInsIn(script + second), ['Array', 'prototype', 'values']];
    const known = ['JSON.parse', 'Reflect.get', 'Date.now', 'Intl.ListFormat'];
    expect(ways.map((way) => way.join('.'))).toEqual(expect.arrayContaining(known));
    const isPromise = (way: Way) => String(way) === 'Promise';
    const others = ways.filter((way) => !isPromise(way));
    // without promises there is no second file
    const groups = [[['Promise']], ...[0, 1, 2].map((third) => others.filter((_, index) => index % 3 === third))];
    const libraries = ['nothing', 'Prototype 1.7', 'MooTools 1.4', 'Sugar 1', 'date.js', 'old polyfills'];
    const spoilt = ['before', 'open'].flatMap((moment) =>
      groups.map((group, index) => ({ name: `group ${index} ${moment}`, ways: group, moment })),
    );
    const dom = [
      ['Storage', 'prototype', 'setItem'],
      ['Crypto', 'prototype', 'getRandomValues'],
      ['CustomEvent'],
      ['TextEncoder'],
      ['HTMLDialogElement', 'prototype', 'close'],
    ];
    // what waits is cleared by the next frame, so there is one alone, and it comes last
    const all = [
      ...libraries.map((name) => ({ name, moment: 'before' })),
      ...spoilt,
      ...dom.map((way) => ({ name: way.join('.'), ways: [way], moment: 'open', isOfBrowsers: true })),
      { name: 'fetch', ways: [['fetch']], moment: 'open', isOfBrowsers: true, mayWait: true },
    ];
    const begin = '<script>parent.begin(window)</script>';
    const held = `<script type="text/plain" data-assent="analytics">document.documentElement.dataset.ran = "yes"</script>
      <img data-assent="analytics" data-src="/pixel"><iframe data-assent="maps" data-src="/map" title="A map"></iframe>`;
    widget.site.add('/hostile-frame', html(begin + widget.tag(), held));
    const { page } = await widget.visit.again();
    await page.goto(widget.site.add('/hostile', hostilePage));
    const run = (cases: object[]) => page.evaluate<string[]>(`run(${JSON.stringify(cases)})`);
    const troubles = await run(all);
    // which of a group it was
    const group = spoilt.find(({ name }) => troubles.some((trouble) => trouble.startsWith(name)));
    const alone = group?.ways.map((way) => ({ ...group, name: `${way.join('.')} ${group.moment}`, ways: [way] })) ?? [];
    expect([...troubles, ...(await run(alone))]).toEqual([]);
    await page.goto(widget.address);
    const records = await widget.records(all.length * 2);
    const decided = records.map(({ metadata, decision }) => `${metadata?.case} ${decision}`);
    expect(decided.sort()).toEqual(all.flatMap(({ name }) => [`${name} accept_all`, `${name} withdraw`]).sort());
  });
});
