/** What `npm run release` checks and writes, piece by piece; its checks as a whole are run in test/rehearsals/release.test.ts. */
import { chmodSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkChangelog, readSections } from '../../scripts/release/changelog.ts';
import { checkLicences, listLicences, readPackages } from '../../scripts/release/packages.ts';
import { readReleases } from '../../scripts/release/releases.ts';
import { checkSbom, makeSbom, packageOf } from '../../scripts/release/sbom.ts';
import { describeSchema, readMigration } from '../../scripts/release/schema.ts';
import { describeSettings } from '../../scripts/release/settings.ts';
import { pack } from '../../scripts/release/tarball.ts';
import { checkVersions, readVersions } from '../../scripts/release/versions.ts';
import { root } from '../../scripts/stack/paths.ts';

const changelog = (...sections: string[]) => ['# Changelog', ...sections].join('\n\n');
const entry = '### Added\n\n- Something.';

describe('the releases', () => {
  it('are those of the changelog, but for the one that package.json is of', () => {
    const { 'package.json': current } = readVersions(root);
    const told = readSections(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'))
      .filter(({ name }) => name !== 'Unreleased' && name !== current)
      .map(({ name, date }) => ({ version: name, date }));
    expect(readReleases(root).map(({ version, date }) => ({ version, date }))).toEqual(told);
  });
});

describe('the changelog', () => {
  it('with a dated section of the version can be released', () => {
    expect(checkChangelog(changelog('## 1.1.0 — 2026-12-01', entry, '## 1.0.0 — 2026-11-01', entry), '1.1.0')).toEqual(
      [],
    );
    expect(checkChangelog(changelog('## Unreleased', '## 1.1.0 — 2026-12-01', entry), '1.1.0')).toEqual([]);
  });

  it.each([
    ['no section', ['## 1.0.0 — 2026-11-01', entry], 'has no section'],
    ['no date', ['## 1.1.0', entry], 'has no date'],
    ['a day that is none', ['## 1.1.0 — 2026-02-31', entry], 'has no date'],
    ['an empty section', ['## 1.1.0 — 2026-12-01', '### Added'], 'is empty'],
    ['an older section', ['## 1.2.0 — 2026-12-02', entry, '## 1.1.0 — 2026-12-01', entry], 'not the newest'],
    ['more that is unreleased', ['## Unreleased', entry, '## 1.1.0 — 2026-12-01', entry], '"Unreleased" still'],
  ])('with %s cannot', (_, sections, fault) => {
    expect(checkChangelog(changelog(...sections), '1.1.0')).toEqual([expect.stringContaining(fault)]);
  });
});

describe('the version', () => {
  const released = [{ version: '1.9.0', date: '2026-11-01', commit: 'a'.repeat(40) }];

  it('is the same everywhere', () => {
    expect(new Set(Object.values(readVersions(root))).size).toBe(1);
    expect(checkVersions({ 'package.json': '1.10.0', 'docker-compose.yml, image': '1.10.0' }, released)).toEqual([]);
  });

  it('is told where it differs, is none, or is released already', () => {
    expect(checkVersions({ 'package.json': '2.0.0', 'docker-compose.yml, image': '1.9.0' }, released)).toEqual([
      'docker-compose.yml, image has version 1.9.0, package.json has 2.0.0',
    ]);
    expect(checkVersions({ 'package.json': '2.0' }, released)).toEqual([expect.stringContaining('not a version')]);
    expect(checkVersions({ 'package.json': '1.9.0' }, released)).toEqual([expect.stringContaining('released already')]);
  });
});

describe('a migration', () => {
  const kind = (up: string) =>
    readMigration('1_a.sql', `-- migrate:up\n${up}\n-- migrate:down\ndrop table other;\n`).kind;

  it.each([
    'create table a (b text not null, check (b <> $$x$$));',
    'alter table a add column b integer not null default 1, add column c text;',
    'alter table a add column b bigint generated always as identity;',
    'alter table a alter column b drop not null; -- drop table a',
  ])('that only adds expands: %s', (up) => expect(kind(up)).toBe('expand'));

  it.each([
    'drop table a;',
    'alter table a drop column b;',
    'alter table a rename column b to c;',
    'alter table a rename to c;',
    'alter table a alter column b type bigint;',
    'alter table a alter b set not null;',
    'alter table a add column b text not null;',
    'alter table a add constraint short check (length(b) < 9);',
    'drop function f(integer);',
  ])('that takes something away contracts: %s', (up) => expect(kind(up)).toBe('contract'));

  it('is told with what it takes away', () => {
    expect(describeSchema([readMigration('1_a.sql', '-- migrate:up\nalter table a\n  drop column b;')])).toBe(
      '- `1_a.sql`: contract; `drop column b`\n',
    );
  });
});

it('settings are told that are new, gone, or have another default', () => {
  const before = new Map([
    ['GONE', '1'],
    ['SAME', '2'],
    ['MOVED', '3'],
  ] as const);
  const after = new Map([
    ['SAME', '2'],
    ['MOVED', undefined],
    ['NEW', undefined],
  ] as const);
  expect(describeSettings(before, after)).toBe(
    '- added `NEW`, default none\n- removed `GONE`\n- `MOVED`: default none, was `3`\n',
  );
  expect(describeSettings(before, before)).toBe('Nothing.\n');
});

it('the bill of materials is CycloneDX, and has every package of the list of licences', () => {
  const packages = readPackages(root);
  const sbom = JSON.parse(makeSbom(root, packages, 0));
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.\d$/) });
  const kept = (sbom.components as { purl: string }[]).map(({ purl }) => packageOf(purl));
  expect(kept.toSorted()).toEqual(packages.map(({ name, version }) => `${name}@${version}`).toSorted());
});

describe('licences', () => {
  const of = (licence: string) => checkLicences([{ name: 'a', version: '1.0.0', licence }]);

  it('of all packages are known, those in the files for browsers included', () => {
    const packages = readPackages(root);
    expect(checkLicences(packages)).toEqual([]);
    const names = packages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['koa', 'preact', '@noble/ed25519']));
    expect(names).not.toContain('vitest');
    expect(listLicences(packages)).toMatch(/^preact \d\S+: MIT$/m);
  });

  it('that nobody has allowed are told', () => {
    expect(of('(MIT OR GPL-3.0)')).toEqual([]);
    expect(of('MIT AND GPL-3.0')).toHaveLength(1);
    expect(of('none')).toEqual(['a 1.0.0 has the licence none, which nobody has allowed yet']);
  });
});

it('an SBOM that names the machine is told', () => {
  expect(checkSbom('{"url":"https://registry.internal/a.tgz"}', ['registry.internal', '/home/a'])).toEqual([
    'the SBOM names registry.internal',
  ]);
});

it('the tarball does not tell when, in which order and with which mask its files were made', () => {
  const make = (names: string[], mode: number, linked: boolean) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'assent-pack-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const app = path.join(folder, 'app');
    mkdirSync(app, { mode });
    for (const name of names) {
      const file = path.join(app, name);
      if (linked && name === 'b') linkSync(path.join(app, 'a'), file);
      else writeFileSync(file, 'the same', { mode });
      utimesSync(file, mode, mode);
    }
    chmodSync(path.join(app, 'c'), mode | 0o100);
    return pack(app, { version: '1.0.0', seconds: 1_700_000_000 });
  };
  const one = make(['a', 'b', 'c'], 0o700 & ~0o100, false);
  expect(one.includes('assent-1.0.0/a')).toBe(true);
  expect(make(['c', 'a', 'b'], 0o644, true).equals(one)).toBe(true);
});
