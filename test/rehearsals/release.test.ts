/** `npm run release -- --check`, and the notes and the SBOM of a release, in a clone of this checkout with the files as they are now. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, it } from 'vitest';
import { git, readReleases, versionOf } from '../../scripts/release/check.ts';
import { makeNotes, makeSbom } from '../../scripts/release/tarball.ts';
import { root } from '../../scripts/stack/paths.ts';

const [before] = readReleases(root);
const version = versionOf(root);
const file = (name: string) => path.join(clone, name);
const edit = (name: string, change: (text: string) => string) =>
  writeFileSync(file(name), change(readFileSync(file(name), 'utf8')));
const commit = (message: string) => {
  git(clone, 'add', '--all');
  git(clone, '-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '--message', message);
};
const check = () => {
  // what the registry answers is not this test's matter
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, npm_config_offline: 'true' };
  const { status, stderr } = spawnSync(process.execPath, ['scripts/run.mjs', 'release', '--check'], {
    cwd: clone,
    encoding: 'utf8',
    env,
  });
  return { status, faults: stderr.trim().split('\n') };
};

const clone = mkdtempSync(path.join(inject('folder'), 'release-'));
git(root, 'clone', '--quiet', '--shared', '--no-checkout', root, clone);
const files = git(root, 'ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate').trim().split('\n');
const deleted = new Set(git(root, 'ls-files', '--deleted').trim().split('\n'));
for (const name of files) if (!deleted.has(name)) cpSync(path.join(root, name), file(name), { recursive: true });
symlinkSync(path.join(root, 'node_modules'), file('node_modules'));
edit('.gitignore', (text) => text.replace('node_modules/', 'node_modules'));
edit('CHANGELOG.md', (text) => text.replace('## Unreleased', `## ${version} — 2026-12-01`));
commit('a release');

it('passes where nothing is missing', () => {
  expect(check()).toEqual({ status: 0, faults: [''] });
});

it('notes name migrations and settings that changed since the release before', async () => {
  const work = file('before');
  const notes = await makeNotes(clone, work, version, before);
  rmSync(work, { recursive: true });
  expect(notes).toContain(`# Assent ${version}, 2026-12-01`);
  const [newest] = readdirSync(file('libs/base/db/migrations')).toSorted().toReversed();
  expect(notes).toMatch(new RegExp(`## Migrations since ${before.version}[^]*${newest}[^]*## Settings`));
  expect(notes).toMatch(new RegExp(`## Settings since ${before.version}[^]*REDIS_SENTINELS`));
});

it('the bill of materials is CycloneDX, and has what is installed and what the files for browsers hold', async () => {
  const sbom = JSON.parse(await makeSbom(clone));
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.\d$/) });
  const names = (sbom.components as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['koa', 'preact', '@noble/ed25519']));
});

it('tells all defects at once, a line each, and fails', () => {
  edit('CHANGELOG.md', (text) => text.replace(new RegExp(`^## ${version} — .*`, 'm'), `## ${version}`));
  edit('docker-compose.yml', (text) => text.replace(`assent:${version}`, 'assent:0.0.9'));
  edit('scripts/release/releases.json', (text) => text.replace(/[0-9a-f]{40}/, '0123456789'.repeat(4)));
  commit('defects');
  writeFileSync(file('left-over'), '');
  expect(check()).toEqual({
    status: 1,
    faults: [
      `docker-compose.yml, image has version 0.0.9, package.json has ${version}`,
      `CHANGELOG.md: the newest section has to be "## ${version} — YYYY-MM-DD"`,
      'left-over is not committed',
      `the commit of release ${before.version} (0123456) is not in this clone: git fetch --unshallow, or git fetch origin ${'0123456789'.repeat(4)}`,
    ],
  });
});
