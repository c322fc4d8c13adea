/** Which commit each release was made of, newest first. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export type Release = Record<'version' | 'date' | 'commit', string>;

export const readReleases = (checkout: string): [Release, ...Release[]] =>
  JSON.parse(readFileSync(path.join(checkout, 'scripts/release/releases.json'), 'utf8'));
