/** What a release is made of, as CycloneDX: by npm from the lock file, without what differs from run to run. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import os from 'node:os';
import { z } from 'zod';
import { Advice } from '../stack/advice.ts';
import { lastLines } from '../stack/command.ts';
import type { Package } from './packages.ts';

const bom = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({ 'bom-ref': z.string() }) }),
  components: z.array(z.looseObject({ 'bom-ref': z.string(), purl: z.string() })),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).optional() })),
});

/** `seconds`: the time of the commit. */
export function makeSbom(checkout: string, packages: Package[], seconds: number): string {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: checkout, encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) throw new Advice(`npm sbom failed: ${lastLines(stderr, 4).replaceAll('\n', '; ')}`);
  const { metadata, components, dependencies, ...rest } = bom.parse(JSON.parse(stdout));
  const shipped = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  const kept = components.filter(({ purl }) => shipped.has(packageOf(purl)));
  const refs = new Set([metadata.component['bom-ref'], ...kept.map((component) => component['bom-ref'])]);
  const links = dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
  return `${JSON.stringify(
    {
      ...rest,
      serialNumber: `urn:uuid:${nameIn(JSON.stringify([kept, links]))}`,
      metadata: {
        ...metadata,
        timestamp: new Date(seconds * 1_000).toISOString(),
        // npm takes the folder's name
        component: { ...metadata.component, name: 'assent' },
      },
      components: kept,
      dependencies: links,
    },
    null,
    2,
  )}\n`;
}

/** `pkg:npm/%40scope/name@1.0.0` as `@scope/name@1.0.0`; what npm calls its name is that of the folder. */
export const packageOf = (purl: string): string => decodeURIComponent(purl.replace(/^pkg:npm\//, ''));

/** A UUID of version 8 that follows from the content. */
function nameIn(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** It goes to everyone: nothing in it may tell of the machine or of the registry that npm asks here. */
export function checkSbom(sbom: string, names: string[]): string[] {
  return names.filter((text) => sbom.includes(text)).map((text) => `the SBOM names ${text}`);
}

export function namesOfMachine(checkout: string): string[] {
  const { stdout } = spawnSync('npm', ['config', 'get', 'registry'], { cwd: checkout, encoding: 'utf8' });
  const registry = stdout.trim();
  return [checkout, os.tmpdir(), `//${os.hostname()}`, ...(URL.canParse(registry) ? [new URL(registry).host] : [])];
}
