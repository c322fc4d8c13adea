/**
 * What docs/widget.md has for a site's own server, so that Safari keeps the choice: each sends the widget's cookie again
 * as it was. In nginx, in PHP, and in Next.js' own request and response.
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, inject, it } from 'vitest';
import { findProgram } from '../../scripts/stack/packages.ts';
import { startServer } from '../../scripts/stack/server.ts';
import { atEnd } from '../support/at-end.ts';
import { blocksOf } from '../support/documents.ts';
import { startNginx } from '../support/nginx.ts';
import { fromNpm } from '../support/npm-packages.ts';

const name = 'assent_dom_a-B_1';
/** as the widget writes it */
const choice = { decision: 'custom', preferences: { 'maps:é': true }, text: "it's (all) * ~ ; = + %" };
const value = encodeURIComponent(JSON.stringify(choice));

function lines(language: string): string {
  const found = blocksOf('docs/widget.md').find(
    ({ language: own, text }) => own === language && text.includes('assent_dom_…'),
  );
  if (!found) throw new Error(`docs/widget.md has no ${language}`);
  return found.text.replaceAll('assent_dom_…', name);
}

/** What the server sets for a visitor with these cookies. */
type Ask = (cookies: string) => Promise<string[]>;

const over =
  (url: string): Ask =>
  async (cookie) => {
    const answer = await fetch(url, { headers: { cookie } });
    expect(answer.status).toBe(200);
    return answer.headers.getSetCookie();
  };

async function nginx(): Promise<Ask> {
  const [around = '', inServer = ''] = lines('nginx').split(/^#.*$/m);
  const server = `${inServer}\nlocation / { default_type text/html; return 200 "a page"; }`;
  return over((await startNginx({ dataDir: path.join(inject('folder'), 'nginx-cookie'), around, server })).url);
}

async function php(): Promise<Ask> {
  const packages: [string] = ['php8.2-cli'];
  const { binary, env } = await findProgram({ names: ['php'], packages, inPackage: 'usr/bin/php8.2', version: '-v' });
  const dataDir = inject('folder');
  const file = path.join(dataDir, 'page.php');
  writeFileSync(file, `<?php\n${lines('php')}\necho 'a page';\n`);
  const { url, stop } = await startServer({
    name: 'PHP',
    dataDir,
    command: binary,
    argumentsOf: (port) => ['-n', '-S', `127.0.0.1:${port}`, file],
    tether: { env },
    urlOf: (port) => `http://127.0.0.1:${port}`,
    probe: (at) => fetch(at),
  });
  atEnd(stop);
  return over(url);
}

async function next(): Promise<Ask> {
  const load = createRequire(path.join(await fromNpm('next@15.5.29'), 'node_modules/x.js'));
  const { NextRequest, NextResponse } = load('next/server');
  const middleware = new Function('request', 'NextResponse', `${lines('ts')}\nreturn response;`);
  return async (cookie) => {
    const request = new NextRequest('https://www.example.com/', { headers: { cookie } });
    return middleware(request, NextResponse).headers.getSetCookie();
  };
}

it.each([
  ['nginx', nginx],
  ['PHP', php],
  ['Next.js', next],
])('%s sends the cookie again as it was, and none to who has none', async (_, start) => {
  const ask = await start();
  const [sent, ...others] = await ask(`first=1; ${name}=${value}; x${name}=other; last=2`);
  expect(others).toEqual([]);
  const [pair = '', ...attributes] = (sent ?? '').split('; ');
  expect(pair.split('=')[0]).toBe(name);
  // the same to whoever reads it, though a server may escape more
  expect(JSON.parse(decodeURIComponent(pair.slice(name.length + 1)))).toEqual(choice);
  const wanted = ['domain=example.com', 'max-age=34560000', 'path=/', 'samesite=lax', 'secure'];
  const isOld = (attribute: string) => attribute.startsWith('expires=');
  expect(
    attributes
      .map((each) => each.toLowerCase())
      .filter((each) => !isOld(each))
      .sort(),
  ).toEqual(wanted);
  expect(await ask(`first=1; x${name}=other`)).toEqual([]);
});
