/** `@assent/client/react` as docs/client.md has it: rendered by a server, hydrated in Chromium, with React's own warnings. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, type InlineConfig } from 'vite';
import { describe, expect, inject, it } from 'vitest';
import { click, useBrowser, type Visitor } from '../../support/browser/browser.ts';
import { startSite } from '../../support/browser/site.ts';
import { createCli } from '../../support/cli.ts';
import { blocksOf } from '../../support/documents.ts';
import { fromNpm } from '../../support/npm-packages.ts';
import { recordsOf, useStack, withOwnDomain } from '../../support/stack.ts';

const stack = await useStack();
const site = await startSite();
const [app = '', layout = ''] = blocksOf('docs/client.md')
  .filter(({ language }) => language === 'tsx')
  .map(({ text }) => text);

describe.each([
  // its root is an element, as in most applications
  ['18.3.1', '<StrictMode><App /></StrictMode>', (markup: string) => `<div id="root">${markup}</div>`],
  // its root is the document, as in Next.js; with a provider in a provider
  ['19.3.1', '<StrictMode><RootLayout><h1>A shop</h1><App /></RootLayout></StrictMode>', (markup: string) => markup],
])('with React %s', async (version, page, around) => {
  const visit = useBrowser();
  const own = await withOwnDomain(stack);
  await createCli({ ...stack.env }).run('banner', 'publish', own.domainId);
  const modules = path.join(await fromNpm(`react@${version}`, `react-dom@${version}`), 'node_modules');
  const folder = mkdtempSync(path.join(inject('folder'), 'react-'));
  const write = (name: string, text: string) =>
    writeFileSync(
      path.join(folder, name),
      text.replaceAll('https://consent.example.com', stack.api.baseUrl).replaceAll('dom_…', own.domainId),
    );
  write('app.tsx', app);
  write('layout.tsx', layout);
  write(
    'page.tsx',
    `import { StrictMode } from 'react';
     import { App } from './app.tsx';
     import RootLayout from './layout.tsx';
     export const Page = () => ${page};`,
  );
  write(
    'server.tsx',
    `import { renderToString } from 'react-dom/server';
     import { Page } from './page.tsx';
     export const markup = renderToString(<Page />);`,
  );
  write(
    'browser.tsx',
    `import { hydrateRoot } from 'react-dom/client';
     import { Page } from './page.tsx';
     hydrateRoot(document.getElementById('root') ?? document, <Page />, { onRecoverableError: (error) => console.error('recovered', error) });`,
  );
  const compile = async (name: string, options: InlineConfig['build']): Promise<string> => {
    const packages = ['react', 'react-dom'].map((each) => ({ find: each, replacement: path.join(modules, each) }));
    const client = { find: '@assent/client/react', replacement: path.join(inject('dist'), 'client/react.js') };
    await build({
      configFile: false,
      logLevel: 'error',
      root: folder,
      define: { 'process.env.NODE_ENV': '"development"' },
      resolve: { alias: [client, ...packages] },
      oxc: { jsx: { runtime: 'automatic', importSource: 'react', development: false } },
      ssr: { noExternal: true },
      build: { outDir: path.join(folder, 'out'), emptyOutDir: false, minify: false, ...options },
    });
    return path.join(folder, 'out', name);
  };
  const server = await compile('server.js', { ssr: path.join(folder, 'server.tsx') });
  const browser = await compile('browser.js', {
    lib: { entry: path.join(folder, 'browser.tsx'), formats: ['iife'], name: 'site', fileName: () => 'browser.js' },
  });
  const { markup } = (await import(server)) as { markup: string };
  const address = site.add(`/react-${version}`, `<!doctype html>${around(markup)}`);
  const code = readFileSync(browser, 'utf8');

  const hydrate = ({ page }: Visitor) => page.evaluate(code);
  const parts = ({ page }: Visitor) => ({
    fallback: page.getByText('Allow marketing to see the video.'),
    video: page.locator('iframe[title="A video"]'),
    /** the page's own, beside that of the widget */
    settings: page.locator('body > button, #root > button'),
    tags: page.locator('script[src*="/w/"]'),
  });
  const complaints = ({ messages }: Visitor) => messages.filter((each) => /^(error|uncaught)|recovered/.test(each));

  it('a server renders what needs no choice', () => {
    expect(markup).toContain('Allow marketing to see the video.');
    expect(markup).not.toContain('iframe');
    expect(markup).toMatch(/<button[^>]* disabled=""[^>]*>Privacy settings/);
  });

  it('the browser takes that over, asks once, and follows each change of the choice', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await page.goto(address);
    const { fallback, video, settings, tags } = parts(visitor);
    await hydrate(visitor);
    await page.getByRole('dialog', { name: 'Your privacy, your choice' }).waitFor();
    expect(await tags.count()).toBe(1);
    await click(page, 'Reject all');
    await expect.poll(() => settings.isEnabled()).toBe(true);
    await settings.click();
    await fallback.waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Accept all' }).click();
    await video.waitFor();
    await fallback.waitFor({ state: 'detached' });
    expect(await recordsOf(own, 2)).toMatchObject([
      { decision: 'reject_all', bannerVersion: '1' },
      { decision: 'accept_all' },
    ]);

    // with a choice the server's page is the same, and the browser's own comes after it
    await page.goto(address);
    await fallback.waitFor();
    await hydrate(visitor);
    await video.waitFor();
    await page.evaluate(() => window.assent?.withdraw());
    await fallback.waitFor();
    expect(complaints(visitor)).toEqual([]);
  });

  it('a page that has the tag itself gets no other', async () => {
    const visitor = await visit();
    await visitor.page.goto(address);
    await visitor.page.addScriptTag({ url: `${stack.api.baseUrl}/w/${own.domainId}.js` });
    await visitor.page.getByRole('dialog').waitFor();
    await hydrate(visitor);
    await click(visitor.page, 'Accept all');
    const { video, tags } = parts(visitor);
    await video.waitFor();
    expect(await tags.count()).toBe(1);
  });

  it('without the service nothing is allowed, and nothing breaks', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await page.route('**/w/**', (route) => route.abort());
    await page.goto(address);
    const failed = page.waitForEvent('requestfailed');
    await hydrate(visitor);
    await failed;
    const { fallback, video, settings } = parts(visitor);
    await fallback.waitFor();
    expect([await video.count(), await settings.isDisabled()]).toEqual([0, true]);
    expect(complaints(visitor).filter((each) => !each.includes('net::ERR_FAILED'))).toEqual([]);
  });
});
