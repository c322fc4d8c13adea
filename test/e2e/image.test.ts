import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rehearseImage } from '../../scripts/stack/image.ts';
import { spawnTethered } from '../../scripts/stack/tether.ts';
import { jwtSecret } from '../support/settings.ts';
import { openDatabase, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'assent-image-'));
let app = '';
let command: string[] = [];

beforeAll(() => {
  // a clean copy, a production install, and the build alone, as the Dockerfile says
  ({ app, command } = rehearseImage(folder));
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('what the image holds runs: migrate, and an API that becomes ready', async () => {
  const { url } = await openDatabase();
  const redis = await openRedisServer();
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: url, REDIS_URL: redis.url };
  const run = (args: string[], extra: Record<string, string> = {}) =>
    spawnTethered(process.execPath, args, { cwd: app, env: { ...env, ...extra }, stdout: 'pipe' });

  const migration = await run(['dist/apps/cli/main.js', 'migrate']).exited;
  expect(migration.code).toBe(0);

  const api = run(command.slice(1), { JWT_SECRET: jwtSecret, HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0' });
  let output = '';
  api.child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  try {
    const opsPort = await eventually(() => {
      const found = /"opsPort":(\d+)/.exec(output)?.[1];
      if (!found) throw new Error(`not listening: ${output}`);
      return found;
    });
    const response = await fetch(`http://127.0.0.1:${opsPort}/readyz`);
    expect(response.status).toBe(200);
  } finally {
    await api.stop();
  }
  expect((await api.exited).code).toBe(0);
});
