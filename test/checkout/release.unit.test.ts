/** What `npm run release` checks and writes, piece by piece; its checks as a whole are run in test/rehearsals/release.test.ts. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  checkChangelog,
  checkLicences,
  checkVersions,
  readReleases,
  readSections,
  readVersions,
  versionOf,
} from '../../scripts/release/check.ts';
import { describeSettings } from '../../scripts/release/tarball.ts';
import { root } from '../../scripts/stack/paths.ts';

const changelog = (...sections: string[]) => ['# Changelog', ...sections].join('\n\n');
const entry = '### Added\n\n- Something.';

describe('the releases', () => {
  it('are those of the changelog, but for the one that package.json is of', () => {
    const told = readSections(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'))
      .filter(({ name }) => name !== 'Unreleased' && name !== versionOf(root))
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
    ['no section', ['## 1.0.0 — 2026-11-01', entry], 'has to be "## 1.1.0'],
    ['no date', ['## 1.1.0', entry], 'has to be "## 1.1.0'],
    ['a day that is none', ['## 1.1.0 — 2026-02-31', entry], 'has to be "## 1.1.0'],
    ['an older section', ['## 1.2.0 — 2026-12-02', entry, '## 1.1.0 — 2026-12-01', entry], 'has to be "## 1.1.0'],
    ['an empty section', ['## 1.1.0 — 2026-12-01', '### Added'], 'is empty'],
    ['more that is unreleased', ['## Unreleased', entry, '## 1.1.0 — 2026-12-01', entry], '"Unreleased" still'],
  ])('with %s cannot', (_, sections, fault) => {
    expect(checkChangelog(changelog(...sections), '1.1.0')).toEqual([expect.stringContaining(fault)]);
  });
});

it('the version is the same everywhere, is one, and is not released already', () => {
  const released = [{ version: '1.9.0', date: '2026-11-01', commit: 'a'.repeat(40) }];
  expect(new Set(Object.values(readVersions(root))).size).toBe(1);
  expect(checkVersions({ 'package.json': '1.10.0', 'docker-compose.yml, image': '1.10.0' }, released)).toEqual([]);
  expect(checkVersions({ 'package.json': '2.0' }, released)).toEqual([expect.stringContaining('not a version')]);
  expect(checkVersions({ 'package.json': '1.9.0' }, released)).toEqual([expect.stringContaining('released already')]);
});

it('settings are told that are new, gone, or have another default', () => {
  const before = { GONE: { default: '1' }, SAME: { default: '2' }, MOVED: { default: '3' } };
  const after = { SAME: { default: '2' }, MOVED: {}, NEW: {} };
  expect(describeSettings(before, after)).toEqual([
    'removed `GONE`',
    '`MOVED`: default `none`, was `3`',
    'added `NEW`, default `none`',
  ]);
  expect(describeSettings(before, before)).toEqual([]);
});

describe('licences', () => {
  const of = (license: string, name = 'a') =>
    checkLicences(JSON.stringify({ packages: { [`node_modules/${name}`]: { version: '1.0.0', license } } }));

  it('of all packages are allowed', () => {
    expect(checkLicences(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))).toEqual([]);
  });

  it('that nobody has allowed are told, but for tools', () => {
    expect(of('(MIT OR GPL-3.0)')).toEqual([]);
    expect(of('MIT AND GPL-3.0')).toHaveLength(1);
    expect(of('none')).toEqual(['a 1.0.0 has the licence none, which nobody has allowed yet']);
    expect([of('MPL-2.0'), of('MPL-2.0', 'axe-core')].map(({ length }) => length)).toEqual([1, 0]);
  });
});
