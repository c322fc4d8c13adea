import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readUp } from '#libs/base/db/migrate';
import { migrations, migrationsFolder } from '#libs/base/db/schema';

it('every migration does something, and one of which that cannot be read is not noted as done', () => {
  const texts = migrations.map(({ file }) => readFileSync(path.join(migrationsFolder, file), 'utf8'));
  expect(texts.filter((text) => readUp(text).up.trim() === '')).toEqual([]);
  const [up, down] = ['-- migrate:up\nselect 1;\n', '-- migrate:down\n'];
  expect(readUp(up + down)).toEqual({ how: '', up: '\nselect 1;\n' });
  for (const unreadable of ['', 'select 1;', up, down, `-- migrate:up\n${down}`, down + up])
    expect(() => readUp(unreadable)).toThrow('nothing between');
});
