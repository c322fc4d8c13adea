import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readPage as read } from '../support/documents.ts';

const lock = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        integrity: z.string().optional(),
        resolved: z.string().optional(),
        hasInstallScript: z.boolean().optional(),
      }),
    ),
  })
  .parse(JSON.parse(read('package-lock.json')));
const packages = Object.entries(lock.packages).filter(([name]) => name !== '');

/** Packages that would run a program at installation, and why none of them needs to here. */
const wouldRun = {
  'node_modules/@parcel/watcher':
    'builds what its own package for the platform has brought; Klaro lists it with its build tools',
  'node_modules/esbuild': 'looks for the binary that its own package for the platform has brought',
  'node_modules/msgpackr-extract': 'builds what its own package for the platform has brought',
};

describe('what others wrote', () => {
  it('runs nothing when it is installed, and what would is known', () => {
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
    const found = packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([name]) => name);
    expect(found.sort()).toEqual(Object.keys(wouldRun).sort());
  });

  it('is what was reviewed: every package by its hash, from whichever registry', () => {
    expect(packages.length).toBeGreaterThan(100);
    expect(packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
    expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });

  it('is asked after by every change', () => {
    expect(read('.ci/run')).toContain('node scripts/run.mjs audit');
  });
});

it('secrets, backups and data of an operator are never part of a commit or of an image', () => {
  const lines = (file: string) => read(file).split('\n');
  expect(lines('.gitignore')).toEqual(expect.arrayContaining(['.env', '.env.*', '.data/', 'secrets/', 'backup/']));
  expect(lines('.dockerignore')).toEqual(expect.arrayContaining(['.env*', '.data', 'secrets', 'backup']));
});
