/** What a release changes in the table of settings. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export type Defaults = Map<string, string | undefined>;

/** Of the source below `folder`, which has to be inside a checkout, where Node finds the packages. */
export async function readDefaults(folder: string): Promise<Defaults> {
  const address = pathToFileURL(path.join(folder, 'libs/config/settings.ts'));
  const { settings }: { settings: Record<string, { default?: string }> } = await import(address.href);
  return new Map(Object.entries(settings).map(([name, { default: fallback }]) => [name, fallback]));
}

const say = (value: string | undefined): string => (value === undefined ? 'none' : `\`${value}\``);

export function describeSettings(before: Defaults, after: Defaults): string {
  const lines = [
    ...[...after]
      .filter(([name]) => !before.has(name))
      .map(([name, value]) => `added \`${name}\`, default ${say(value)}`),
    ...[...before.keys()].filter((name) => !after.has(name)).map((name) => `removed \`${name}\``),
    ...[...after]
      .filter(([name, value]) => before.has(name) && before.get(name) !== value)
      .map(([name, value]) => `\`${name}\`: default ${say(value)}, was ${say(before.get(name))}`),
  ];
  return lines.length === 0 ? 'Nothing.\n' : lines.map((line) => `- ${line}\n`).join('');
}
