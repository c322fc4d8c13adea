import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, it } from 'vitest';
import { createCli } from '../support/cli.ts';
import { useStack } from '../support/stack.ts';

const stack = await useStack();
const cli = createCli({ ...stack.env, PUBLIC_URL: 'https://consent.example.com' });
const folder = mkdtempSync(path.join(inject('folder'), 'banner-'));

it('assent banner saves a file as the draft, publishes it, puts a version back, and prints a pinned tag', async () => {
  const { domainId } = stack;
  const save = (settings: object) => {
    const file = path.join(folder, 'banner.json');
    writeFileSync(file, JSON.stringify(settings));
    return cli.json('banner', 'set', file, domainId);
  };
  const settings = { company: '</script>' };
  expect(await cli.json('banner', 'show', domainId)).toEqual({ domainId, live: null, settings: {} });
  expect(await save(settings)).toEqual({ domainId, bytes: 23 });
  const first = { version: 1, publishedAt: expect.any(String), note: 'first', restored: null, asksAgain: false };
  const response = { domainId, ...first, by: expect.any(String) };
  expect(await cli.json('banner', 'publish', domainId, '--note', 'first')).toEqual({ ...response, isNew: true });
  // the one that is live, as it was published, and in words for people
  expect(await cli.json('banner', 'publish', domainId)).toEqual({ ...response, isNew: false });
  expect(await cli.run('banner', 'publish', domainId, '--note', 'second')).toMatchObject({
    code: 0,
    stdout: 'nothing has changed since version 1, which stays live\n',
  });
  writeFileSync(path.join(folder, 'script.json'), '{ "company": () => "Shop" }');
  expect(await cli.error('banner', 'set', path.join(folder, 'script.json'), domainId)).toMatch(/^cannot read .*JSON/);
  const list = path.join(folder, 'list.json');
  writeFileSync(list, '[]');
  expect(await cli.error('banner', 'set', list, domainId)).toBe(`${list}: must be an object`);
  await save({});
  expect(await cli.json('banner', 'publish', domainId)).toMatchObject({ version: 2, isNew: true });
  expect(await cli.json('banner', 'publish', domainId, '--restore', '1')).toMatchObject({ version: 3, restored: 1 });
  expect(await cli.json('banner', 'show', domainId)).toEqual({ domainId, live: 3, settings: {} });
  const { versions } = await cli.json<{ versions: { version: number }[] }>('banner', 'versions', domainId);
  expect(versions.map(({ version }) => version)).toEqual([3, 2, 1]);

  const { keys } = await cli.json<{ keys: { isOfPage: boolean }[] }>('key', 'list', '--domain', domainId);
  expect(keys.map(({ isOfPage }) => isOfPage)).toEqual([false, true]);

  const { stdout, stderr } = await cli.run('banner', 'show', domainId, '--pinned');
  expect(stderr).toBe('');
  expect(stdout).toContain('window.assentConfig = {"company":"\\u003c/script>","bannerVersion":"3"};</script>');
  expect(stdout).toMatch(
    /src="https:\/\/consent\.example\.com\/widget-\w{16}\.js" integrity="sha384-.*" data-key="ak_.*" defer><\/script>\n$/,
  );
  await cli.json('domain', 'archive', domainId);
  const archived = await cli.error('banner', 'show', domainId, '--pinned');
  expect(archived).toBe(`domain ${domainId} is archived; restore it first`);
});
