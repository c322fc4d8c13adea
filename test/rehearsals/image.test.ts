import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { versionOf } from '../../scripts/release/check.ts';
import { pack, sums } from '../../scripts/release/tarball.ts';
import { rehearseImage } from '../../scripts/stack/image.ts';
import { root } from '../../scripts/stack/paths.ts';
import { runCommand, spawnTethered } from '../../scripts/stack/tether.ts';
import { blocksIn, sectionOf } from '../support/documents.ts';
import { jwtSecret } from '../support/settings.ts';
import { openDatabase, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'assent-image-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('what the image holds runs from a tarball, by the commands of docs/upgrading.md, and its API becomes ready', async () => {
  // as the checkout of somebody with this umask, whose files another user has to read in the container
  const umask = process.umask(0o077);
  // a clean copy, a production install, and the build alone, as the Dockerfile says
  const { app, command } = rehearseImage(folder);
  process.umask(umask);
  const { url } = await openDatabase();
  const redis = await openRedisServer();
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: url, REDIS_URL: redis.url };
  const version = versionOf(root);
  const { output: closed } = await runCommand('find', ['package.json', 'dist', '!', '-perm', '-o+r'], { cwd: app });
  expect(closed).toBe('');
  const release = path.join(folder, 'release');
  mkdirSync(release);
  const tar = pack(app, { version, seconds: 0 });
  writeFileSync(path.join(release, `assent-${version}-linux-x64.tar.gz`), gzipSync(tar, { level: 1 }));
  writeFileSync(path.join(release, 'SHA256SUMS'), `${await sums(release)}${'0'.repeat(64)}  notes.md\n`);
  const [{ text = '' } = {}] = blocksIn('docs/upgrading.md', sectionOf('docs/upgrading.md', '## From the tarball'));
  const { code, output: printed } = await runCommand('/bin/sh', ['-ec', text], { cwd: release, env });
  expect([code, printed]).toEqual([0, expect.stringMatching(/\.tar\.gz: OK\n[\s\S]*the database is up to date\n$/)]);

  const run = (args: string[], extra: Record<string, string> = {}) =>
    spawnTethered(process.execPath, args, {
      cwd: path.join(release, `assent-${version}`),
      env: { ...env, ...extra },
      stdout: 'pipe',
    });

  const api = run(command.slice(1), { JWT_SECRET: jwtSecret, HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0' });
  let output = '';
  api.child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  try {
    await eventually(async () => {
      const opsPort = /"opsPort":(\d+)/.exec(output)?.[1];
      if (!opsPort) throw new Error(`not listening: ${output}`);
      expect((await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status).toBe(200);
    });
  } finally {
    await api.stop();
  }
  expect((await api.exited).code).toBe(0);
}, 900_000);
