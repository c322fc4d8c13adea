/** What a release changes: its section of the changelog, the schema and the settings. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readSections } from './changelog.ts';
import { extract, git } from './git.ts';
import type { Release } from './releases.ts';
import { describeSchema, readMigration } from './schema.ts';
import { describeSettings, readDefaults } from './settings.ts';

const migrations = 'libs/store/migrations';

/** `work`: an empty folder, inside of the checkout. */
export async function makeNotes(checkout: string, work: string, version: string, before?: Release): Promise<string> {
  const { text = '', date = '' } =
    readSections(readFileSync(path.join(checkout, 'CHANGELOG.md'), 'utf8')).find(({ name }) => name === version) ?? {};
  const since = before ? ` since ${before.version}` : '';
  return [
    `# Assent ${version}, ${date}\n`,
    `${text}\n`,
    `## Schema${since}\n`,
    describeSchema(addedMigrations(checkout, before)),
    `## Settings${since}\n`,
    before ? describeSettings(await readOld(checkout, work, before), await readDefaults(checkout)) : 'All are new.\n',
  ].join('\n');
}

function addedMigrations(checkout: string, before: Release | undefined) {
  const old = new Set(
    before ? git(checkout, 'ls-tree', '--name-only', before.commit, `${migrations}/`).split('\n') : [],
  );
  return readdirSync(path.join(checkout, migrations))
    .filter((file) => !old.has(`${migrations}/${file}`))
    .sort()
    .map((file) => readMigration(file, readFileSync(path.join(checkout, migrations, file), 'utf8')));
}

function readOld(checkout: string, work: string, { commit }: Release) {
  extract(checkout, commit, work, ['package.json', 'libs/config', 'libs/contract']);
  return readDefaults(work);
}
