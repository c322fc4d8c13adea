/** Which commit each release was made of, newest first. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const release = z.strictObject({
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  date: z.iso.date(),
  commit: z.string().regex(/^[0-9a-f]{40}$/),
});

export type Release = z.infer<typeof release>;

export const readReleases = (checkout: string): [Release, ...Release[]] =>
  z
    .tuple([release], release)
    .parse(JSON.parse(readFileSync(path.join(checkout, 'scripts/release/releases.json'), 'utf8')));
