/** The places that name the version, and whether they agree. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Release } from './releases.ts';

const manifest = z.object({ version: z.string() });
const lockFile = z.object({ version: z.string(), packages: z.object({ '': manifest }) });
const composeFile = z.object({ services: z.record(z.string(), z.object({ image: z.string() })) });

export interface Versions {
  [place: string]: string;
}

/** The first is that of the release. */
export function readVersions(checkout: string): Versions {
  const read = (file: string) => readFileSync(path.join(checkout, file), 'utf8');
  const { version } = manifest.parse(JSON.parse(read('package.json')));
  const lock = lockFile.parse(JSON.parse(read('package-lock.json')));
  const { services } = composeFile.parse(parse(read('docker-compose.yml'), { merge: true }));
  const images = Object.values(services).map(({ image }) => image.split(':'));
  const ours = new Set(images.filter(([name]) => name === 'assent').map(([, tag = '']) => tag));
  return {
    'package.json': version,
    'package-lock.json': lock.version,
    'package-lock.json, packages[""]': lock.packages[''].version,
    'docker-compose.yml, image': [...ours].join(', '),
  };
}

export function checkVersions(versions: Versions, [newest]: Release[]): string[] {
  const [[, version] = ['', '']] = Object.entries(versions);
  const others = Object.entries(versions).filter(([, other]) => other !== version);
  const faults = others.map(([place, other]) => `${place} has version ${other}, package.json has ${version}`);
  if (!/^\d+\.\d+\.\d+$/.test(version)) faults.push(`${version} is not a version like 1.2.3`);
  else if (newest && !isNewer(version, newest.version))
    faults.push(`package.json has version ${version}, and ${newest.version} is released already`);
  return faults;
}

function isNewer(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => text.split('.').map(Number));
  const at = [0, 1, 2].find((index) => one?.[index] !== other?.[index]);
  return at !== undefined && (one?.[at] ?? 0) > (other?.[at] ?? 0);
}
