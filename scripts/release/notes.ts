/** What a release changes: its section of the changelog, the migrations and the settings. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readSections } from './check.ts';
import { extract, git, type Release } from './git.ts';

/** By name; undefined: without a default. */
type Defaults = Record<string, { default?: string }>;

/** `work`: a folder for the source of the release before, inside of a checkout, where Node finds the packages. */
export async function makeNotes(checkout: string, work: string, version: string, before: Release): Promise<string> {
  const sections = readSections(readFileSync(path.join(checkout, 'CHANGELOG.md'), 'utf8'));
  const { text = '', date = '' } = sections.find(({ name }) => name === version) ?? {};
  const known = listMigrations(checkout, before.commit);
  const migrations = listMigrations(checkout, 'HEAD').filter((file) => !known.includes(file));
  extract(checkout, before.commit, work, ['package.json', 'apps', 'libs']);
  const settings = describeSettings(await readDefaults(work), await readDefaults(checkout));
  const list = (lines: string[]) => (lines.length === 0 ? 'None.' : lines.map((line) => `- ${line}`).join('\n'));
  return `# Assent ${version}, ${date}

${text}

## Migrations since ${before.version}

${list(migrations.map((file) => `\`${file}\``))}

## Settings since ${before.version}

${list(settings)}
`;
}

/** Their names, which stay, wherever a commit has them. */
const listMigrations = (checkout: string, commit: string): string[] =>
  git(checkout, 'ls-tree', '-r', '--name-only', commit, '--', 'libs')
    .split('\n')
    .filter((file) => /\/migrations\/.*\.sql$/.test(file))
    .map((file) => path.basename(file));

/** Where the table of settings is, and where it was in 0.1.0. */
const places = ['apps/settings', 'libs/config'];

async function readDefaults(checkout: string): Promise<Defaults> {
  const files = places.map((folder) => path.join(checkout, folder, 'settings.ts'));
  const file = files.find((each) => existsSync(each)) ?? '';
  const { settings }: { settings: Defaults } = await import(pathToFileURL(file).href);
  return settings;
}

export function describeSettings(before: Defaults, after: Defaults): string[] {
  const say = (value = 'none'): string => `\`${value}\``;
  return [
    ...Object.keys(before)
      .filter((name) => !after[name])
      .map((name) => `removed \`${name}\``),
    ...Object.entries(after).flatMap(([name, { default: value }]) => {
      const old = before[name];
      if (!old) return [`added \`${name}\`, default ${say(value)}`];
      return old.default === value ? [] : [`\`${name}\`: default ${say(value)}, was ${say(old.default)}`];
    }),
  ];
}
