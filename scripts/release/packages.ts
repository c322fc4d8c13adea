/** The packages that a release holds, and under which licences. */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { z } from 'zod';

const locked = z.object({
  packages: z.record(
    z.string(),
    z.object({
      /** where it is installed under another one */
      name: z.string().optional(),
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
    }),
  ),
});

export interface Package {
  name: string;
  version: string;
  licence: string;
}

/** All of them allow what this project's own licence allows. CC-BY-4.0 is that of data: caniuse-lite. */
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC-BY-4.0',
  'ISC',
  'MIT',
  'Unlicense',
]);

/** Those that are installed for production, and those that the build puts into the files for browsers. */
export function readPackages(checkout: string): Package[] {
  const { packages } = locked.parse(JSON.parse(readFileSync(path.join(checkout, 'package-lock.json'), 'utf8')));
  const bundled = importedBy(checkout);
  const shipped = Object.entries(packages).flatMap(([place, { name, version = '', license = 'none', dev }]) => {
    const installedAs = place.split('node_modules/').at(-1) ?? '';
    const isShipped = place !== '' && (!dev || bundled.has(installedAs));
    return isShipped ? [{ name: name ?? installedAs, version, licence: license }] : [];
  });
  const unique = new Map(shipped.map((each) => [`${each.name}@${each.version}`, each]));
  return [...unique.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

/** What the source of the apps imports, from wherever it is installed. */
function importedBy(checkout: string): Set<string> {
  const names = new Set<string>();
  for (const folder of ['apps', 'libs']) {
    for (const file of readdirSync(path.join(checkout, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(file)) continue;
      const source = readFileSync(path.join(checkout, folder, file), 'utf8');
      for (const [, kind, specifier = ''] of source.matchAll(
        /^(?:import|export|\}) ?(type )?.*?from '([^.#'][^']*)'/gm,
      ))
        if (!kind) names.add(nameOf(specifier));
    }
  }
  for (const name of builtinModules) names.delete(name);
  return names;
}

const nameOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;

export const checkLicences = (packages: Package[]): string[] =>
  packages
    .filter(({ licence }) => !isAllowed(licence))
    .map(({ name, version, licence }) => `${name} ${version} has the licence ${licence}, which nobody has allowed yet`);

/** `A OR B` leaves the choice, `A AND B` does not. */
const isAllowed = (licence: string): boolean =>
  licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => allowed.has(each)));

export const listLicences = (packages: Package[]): string =>
  packages.map(({ name, version, licence }) => `${name} ${version}: ${licence}\n`).join('');
