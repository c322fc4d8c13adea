/** What the documents say of the code, as far as the code itself can tell; their commands and snippets are run elsewhere. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { createBaseMetrics } from '#libs/base/ops/metrics';
import { createReadyGauge } from '#libs/base/ops/port';
import { createAskedGauges } from '#libs/base/ops/sampled-gauges';
import { createStoreGauges, housekeepingBacklog } from '#libs/base/ops/store-gauges';
import { pageNames, pageOf } from '#libs/base/terms/dashboard-pages';
import { problemBody, problems } from '#libs/base/terms/problem';
import { currentOfMany } from '#libs/current/contract';
import { createCurrentMetrics } from '#libs/current/metrics';
import { feed, orgStats, orgStatsQuery, recordsPage, recordsQuery } from '#libs/log/contract';
import { presetFile } from '#libs/log/import/presets';
import { noticesPage } from '#libs/notices/contract';
import { createPeopleMetrics } from '#libs/people/metrics';
import { retentionBacklog } from '#libs/privacy/metrics';
import { consistency, consistencyQuery, proofBundle } from '#libs/proof/contract';
import { createProofMetrics } from '#libs/proof/metrics';
import { erasureEntry, noticeEntry, recordEntry } from '#libs/proof/tree/entry';
import { receipt, recordFields } from '#libs/record/contract';
import { createRecordMetrics, queueGauges, recordBacklog } from '#libs/record/metrics';
import { domainStats, organization, statsQuery } from '#libs/stats/contract';
import { createStatsMetrics, statsBacklog } from '#libs/stats/metrics';
import { createTenantMetrics } from '#libs/tenants/metrics';
import { createWebhookMetrics, webhookBacklog } from '#libs/webhooks/metrics';
import { createProgram } from '../../apps/cli/program.ts';
import { createTools } from '../../apps/cli/tools.ts';
import { type Setting, settings } from '../../apps/settings/settings.ts';
import { root } from '../../scripts/stack/paths.ts';
import { blocks, blocksIn, blocksOf, pages, readPage, sectionOf } from '../support/documents.ts';

const exists = (file: string) => existsSync(path.join(root, file));
const rowsOf = (page: string, heading: string): string[] => sectionOf(page, heading).match(/^\|.*\|$/gm) ?? [];
const namesIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
/** The names in the first cells of a table. */
const firstNames = (page: string, heading: string): string[] =>
  rowsOf(page, heading).flatMap((row) => namesIn(row.split(' | ')[0] ?? ''));

const flagsIn = (text: string): string[] => [...new Set(text.match(/--[a-z][a-z-]*/g))].sort();

const flagsOf = ({ options }: Command): string[] => options.map(({ long }) => String(long)).sort();
/** The flags of every command. */
const commands = new Map(
  createProgram(createTools({})).commands.flatMap((noun) =>
    noun.commands.length === 0
      ? [[noun.name(), flagsOf(noun)] as const]
      : noun.commands.map((verb) => [`${noun.name()} ${verb.name()}`, flagsOf(verb)] as const),
  ),
);

/** What is linked to: files, and headings in them. */
const linksOf = (page: string): string[] =>
  [...readPage(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^https?:/.test(target));
const anchorsOf = (page: string): string[] => [
  ...[...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  ),
  ...[...readPage(page).matchAll(/<a id="(.*?)">/g)].map(([, id = '']) => id),
];

describe.each(pages)('%s', (page) => {
  it('has only blocks that a test knows', () => {
    // the last four are for other people's servers
    const known = ['sh', 'html', 'js', 'mjs', 'css', 'json', 'yaml', 'text', 'nginx', 'php', 'ts', 'tsx'];
    expect(blocksOf(page).filter(({ language }) => !known.includes(language))).toEqual([]);
  });

  it('links to what is there', () => {
    const broken = linksOf(page).filter((target) => {
      const [file = '', anchor] = target.split('#');
      const linked = file === '' ? page : path.join(path.dirname(page), file);
      return !exists(linked) || (anchor !== undefined && !anchorsOf(linked).includes(anchor));
    });
    expect(broken).toEqual([]);
  });

  it('names files and folders that are there', () => {
    const named = readPage(page).match(/(?<![\w./-])(?:apps|libs|scripts|test|docs|\.ci)\/[\w./-]*\w/g) ?? [];
    expect(named.filter((file) => !exists(file) && !exists(`${file}.ts`))).toEqual([]);
  });

  it('names npm scripts that are there', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    const named = [...readPage(page).matchAll(/\bnpm run (?:-s )?(\w+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('names flags of npm scripts that are there', () => {
    const said = readPage(page).matchAll(/\bnpm run (?:-s )?(bench|chaos|demo|fuzz|release) -- ([^`\n#]*)/g);
    const unknown = [...said].flatMap(([, name = '', rest = '']) => {
      const sources = [`scripts/${name}.ts`, `scripts/${name}/options.ts`].filter(exists).map(readPage).join('');
      return flagsIn(rest).filter((flag) => !sources.includes(` ${flag.slice(2)}: `));
    });
    expect(unknown).toEqual([]);
  });

  it('names commands of the command line that are there, with flags that they have', () => {
    // a name in backticks alone may be something else
    const said = readPage(page).matchAll(
      /(`assent |assent -- |cli\/main\.js |`)([a-z]+(?: [a-z][a-z-]*)?)([^`\n|&>#;]*)/g,
    );
    const unknown = [...said].flatMap(([, before, name = '', rest = '']) => {
      const flags = commands.get(name);
      if (!flags) return before === '`' ? [] : [name];
      return flagsIn(rest).flatMap((flag) => ([...flags, '--json'].includes(flag) ? [] : [`${name} ${flag}`]));
    });
    expect(unknown).toEqual([]);
  });
});

describe('README.md', () => {
  it('is a front page: at most 130 lines', () => {
    expect(readPage('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(130);
  });
});

describe('docs/security.md', () => {
  it('says of every setting whether its default opens something, and what that default is', () => {
    const heading = '## Every default that opens or closes something';
    const told = rowsOf('docs/security.md', heading).flatMap((row) => {
      const [names = '', fallback = ''] = row.replace(/^\| /, '').split(' | ');
      return namesIn(names).map((name) => [name, fallback] as const);
    });
    const neither = namesIn(
      /^Neither open nor close anything: .*$/m.exec(sectionOf('docs/security.md', heading))?.[0] ?? '',
    );
    expect([...told.map(([name]) => name), ...neither].sort()).toEqual(Object.keys(settings).sort());
    const known = new Map(Object.entries<Setting>(settings));
    expect(told.filter(([name, fallback]) => fallback !== (known.get(name)?.default ?? 'none'))).toEqual([]);
  });
});

describe('docs/api.md', () => {
  const page = 'docs/api.md';
  const responses: z.ZodType[] = [
    receipt,
    currentOfMany,
    domainStats,
    orgStats,
    recordsPage,
    noticesPage,
    organization,
    consistency,
    feed,
    problemBody,
    presetFile,
  ];

  it.each(blocks('json').map(({ text }, index) => [index + 1, text]))(
    'JSON block %i is an answer of the contract, or a file that a command takes',
    (_, text) => {
      const shown: unknown = JSON.parse(text);
      const same = responses.filter((schema) => {
        const { data } = schema.safeParse(shown);
        // what a schema does not know it leaves out
        return data !== undefined && JSON.stringify(sorted(data)) === JSON.stringify(sorted(shown));
      });
      expect(same).toHaveLength(1);
    },
  );

  it('shows errors with their titles', () => {
    const shown = blocks('json').flatMap(({ text }) => problemBody.safeParse(JSON.parse(text)).data ?? []);
    const titles = new Map(Object.entries(problems).map(([code, { title }]) => [code, title]));
    expect(shown.map(({ code, title }) => [code, title])).toEqual(shown.map(({ code }) => [code, titles.get(code)]));
    expect(shown).not.toEqual([]);
  });

  it('has every field of a record, and no other', () => {
    expect(firstNames(page, '### The record').sort()).toEqual([...recordFields].sort());
  });

  it.each([
    ['### Statistics of a domain', statsQuery.shape],
    ['### Statistics of the last 30 days', orgStatsQuery.shape],
    ['### The log', recordsQuery.shape],
  ])('%s: has every parameter, and no other', (heading, shape) => {
    expect(firstNames(page, heading).sort()).toEqual(Object.keys(shape).sort());
  });

  it('has every parameter of the sealed log and every field of a bundle, and no other', () => {
    const told = firstNames(page, '### The sealed log').filter((name) => !name.startsWith('GET '));
    expect(told.sort()).toEqual([...Object.keys(consistencyQuery.shape), ...Object.keys(proofBundle.shape)].sort());
  });

  it('has every error with its status, and no other', () => {
    const listed = rowsOf(page, '## Errors').flatMap((row) => {
      const [, status = '', codes = ''] = row.split('|');
      return namesIn(codes).map((code) => [code, Number(status)]);
    });
    expect(listed.sort()).toEqual(
      Object.entries(problems)
        .map(([code, { status }]) => [code, status])
        .sort(),
    );
  });
});

describe('docs/operations.md', () => {
  it('has every command with its flags, and no other', () => {
    // several in a cell
    const told = rowsOf('docs/operations.md', '## Commands')
      .flatMap((row) => row.split(' | ')[0]?.split(' · ') ?? [])
      .flatMap((written) => {
        const [, name] = /`([a-z]+(?: [a-z][a-z-]*)?)/.exec(written) ?? [];
        return name === undefined ? [] : [[name, flagsIn(written)]];
      });
    expect(told.sort()).toEqual([...commands].sort());
  });

  it('has every metric, and no other', () => {
    const { register } = createBaseMetrics();
    for (const create of [
      createRecordMetrics,
      createStatsMetrics,
      createProofMetrics,
      createWebhookMetrics,
      createTenantMetrics,
      createPeopleMetrics,
      createCurrentMetrics,
    ])
      create(register);
    const nothing = () => {};
    const asked = [recordBacklog([]), statsBacklog, webhookBacklog, retentionBacklog, housekeepingBacklog([])];
    for (const gauges of [queueGauges, ...asked.map((question) => question.gauges)])
      createAskedGauges<never>(register, gauges, () => Promise.reject(new Error('not asked')), nothing);
    createStoreGauges(register, {
      isPostgresUsable: async () => true,
      redisMemory: () => 0,
      clockSkew: () => 0,
      pools: {},
    });
    createReadyGauge(register);
    const metrics = register.getMetricsAsArray().map(({ name }) => name);
    const listed = firstNames('docs/operations.md', '## Monitoring').filter((name) => /^assent_\w+$/.test(name));
    expect([...new Set(listed)].sort()).toEqual(metrics.filter((name) => name.startsWith('assent_')).sort());
  });
});

it('docs/proof.md has the keys of every entry in their order', () => {
  const text = readFileSync(path.join(root, 'docs/proof.md'), 'utf8');
  const keysOf = (entry: string) => Object.keys(JSON.parse(entry)).join(', ');
  const [domainId, id, decidedAt] = ['dom_x', 'r', '2026-01-02T03:04:05.678Z'];
  const times = { decidedAt, receivedAt: decidedAt, importedAt: decidedAt };
  const record = { id, domainId, decision: 'custom', ...times, source: 'api', notice: 'n', gpc: true, bot: true };
  for (const [type, entry] of [
    ['record', recordEntry(record, { circumstances: 'c', private: 'p' })],
    ['notice', noticeEntry({ domainId, notice: 'n', firstSeenAt: decidedAt })],
    ['erasure', erasureEntry({ domainId, id, erasedOn: '2026-01-02' })],
  ] as const)
    expect(text).toContain(`\n| \`${type}\` | \`${keysOf(entry)}\``);
});

describe('docs/imports.md', () => {
  it('has every flag of an import but --domain, and no other', () => {
    const told = firstNames('docs/imports.md', '## On the command line').flatMap(flagsIn);
    expect([...told, '--domain'].sort()).toEqual(commands.get('records import'));
  });
});

describe('docs/runbooks.md', () => {
  const page = 'docs/runbooks.md';
  const folder = 'test/rehearsals';
  const tests = readdirSync(path.join(root, folder))
    .filter((file) => file.startsWith('runbook-'))
    .map((file) => readFileSync(path.join(root, folder, file), 'utf8'));
  const [beginning = '', ...runbooks] = readPage(page).match(/^## .*$/gm) ?? [];

  it('takes every secret of the command line from its file, before each block', () => {
    const [block] = blocksIn(page, sectionOf(page, beginning));
    const named = /for name in ([\s\S]*?)\ndo/.exec(block?.text ?? '')?.[1]?.match(/\w+/g);
    const secrets = Object.entries<Setting>(settings).filter(([, { secret, for: by }]) => secret && by.includes('cli'));
    expect(named?.sort()).toEqual(secrets.map(([name]) => name).sort());
  });

  it('says of every secret how it is rotated', () => {
    const told = firstNames(page, '## Rotate secrets');
    // those of both stores are passwords of their users
    const secrets = Object.entries<Setting>(settings).flatMap(([name, { secret }]) =>
      secret && !/_PREVIOUS$|^(DATABASE|REDIS)_/.test(name) ? [name] : [],
    );
    expect(secrets.filter((name) => !told.includes(name))).toEqual([]);
  });

  it('reads the file of the systemd units with a value as that is quoted there', () => {
    const [, quoted = '', address] = /`(DATABASE_URL='(.*?)')`/.exec(readPage('docs/operations.md')) ?? [];
    const [, command = ''] = /`(set -a; .*?)`/.exec(sectionOf(page, beginning)) ?? [];
    expect([address, command]).toEqual([expect.stringContaining('&'), expect.stringContaining(' /etc/assent/env;')]);
    const folder = mkdtempSync(path.join(os.tmpdir(), 'assent-env-'));
    const file = path.join(folder, 'env');
    writeFileSync(file, `${quoted}\n`);
    const script = `${command.replace('/etc/assent/env', file)}; printenv DATABASE_URL`;
    const { stdout } = spawnSync('/bin/sh', ['-euc', script], { env: { PATH: process.env.PATH }, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(stdout).toBe(`${address}\n`);
  });

  it.each(runbooks)('%s: its commands are run by one test', (heading) => {
    const hasCommands = blocksIn(page, sectionOf(page, heading)).some(({ language }) => language === 'sh');
    expect([hasCommands, tests.filter((text) => text.includes(`'${heading}'`)).length]).toEqual([true, 1]);
  });

  it('each of these tests sees that no command is left', () => {
    expect(tests.filter((text) => !text.includes('expect(runbook.left()).toEqual([])'))).toEqual([]);
  });
});

it('docs/dashboard.md has a row for every page of a menu', () => {
  const rows = rowsOf('docs/dashboard.md', '## The pages').map((row) => row.split(' | ')[0]?.toLowerCase());
  const names = pageNames.map(pageOf).flatMap(({ hasTab, name }) => (hasTab ? [name.toLowerCase()] : []));
  expect(names.filter((name) => !rows.some((row) => row?.includes(name)))).toEqual([]);
});

describe('docs/decisions/README.md', () => {
  it('lists every decision', () => {
    const written = pages
      .filter((page) => /^docs\/decisions\/(?!README)/.test(page))
      .map((page) => path.basename(page));
    expect(linksOf('docs/decisions/README.md').sort()).toEqual(written.sort());
  });
});

/** With the names of objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([name, part]) => [name, sorted(part)]),
  );
}
