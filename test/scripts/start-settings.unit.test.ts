/** What `npm start` takes of the user's own settings. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { ownStores, tokenHours } from '../../scripts/start/settings.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'assent-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

const names = ['DATABASE_URL', 'DATABASE_URL_FILE', 'REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'];
const set = (values: Record<string, string>) => {
  for (const name of names) vi.stubEnv(name, values[name] ?? '');
};

it('servers of the user are used together, and one alone is refused', () => {
  set({});
  expect(ownStores()).toBeUndefined();
  set({ DATABASE_URL: 'postgres://one', REDIS_SENTINELS: 'a:1' });
  expect(ownStores()).toEqual({ postgres: 'DATABASE_URL', redis: 'REDIS_SENTINELS' });
  set({ DATABASE_URL: 'postgres://one' });
  expect(ownStores).toThrow('DATABASE_URL is set, but REDIS_URL is not');
  set({ REDIS_CLUSTER_NODES: 'a:1' });
  expect(ownStores).toThrow('REDIS_CLUSTER_NODES is set, but DATABASE_URL is not');
});

it('a secret in a file counts as set, and a file that cannot be read is named', () => {
  const file = path.join(folder, 'url');
  writeFileSync(file, 'postgres://one\n');
  set({ DATABASE_URL_FILE: file, REDIS_URL: 'redis://one' });
  expect(ownStores()).toEqual({ postgres: 'DATABASE_URL', redis: 'REDIS_URL' });
  set({ DATABASE_URL_FILE: path.join(folder, 'none'), REDIS_URL: 'redis://one' });
  expect(ownStores).toThrow('DATABASE_URL_FILE must be a file that can be read');
});

it('its token lives no longer than the settings allow', () => {
  vi.stubEnv('JWT_MAX_LIFETIME', '');
  expect(tokenHours()).toBe(168);
  vi.stubEnv('JWT_MAX_LIFETIME', '12');
  expect(tokenHours()).toBe(12);
});
