/** SHA256SUMS, as `sha256sum --check` reads it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Of all files in `folder`, a line each. */
export function sums(folder: string): string {
  const hash = (file: string) =>
    createHash('sha256')
      .update(readFileSync(path.join(folder, file)))
      .digest('hex');
  return readdirSync(folder)
    .sort()
    .map((file) => `${hash(file)}  ${file}\n`)
    .join('');
}
