import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeOnce } from '../../scripts/stack/paths.ts';

it('a folder is made once, also where two ask for it at once, and never half of it', async () => {
  const parent = mkdtempSync(path.join(tmpdir(), 'assent-once-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const folder = path.join(parent, 'made');
  // of a run that was killed
  mkdirSync(`${folder}.new`);
  writeFileSync(path.join(`${folder}.new`, 'half'), '');
  let made = 0;
  const make = async (work: string) => {
    made += 1;
    expect([readdirSync(work), existsSync(folder)]).toEqual([[], false]);
    writeFileSync(path.join(work, 'whole'), String(made));
    if (made === 1) throw new Error('no network');
    return work;
  };
  await expect(makeOnce(folder, make)).rejects.toThrow('no network');
  expect(readdirSync(parent)).toEqual([]);
  expect(await Promise.all([makeOnce(folder, make), makeOnce(folder, make)])).toEqual([folder, folder]);
  expect([readFileSync(path.join(folder, 'whole'), 'utf8'), readdirSync(parent)]).toEqual(['2', ['made']]);
});
