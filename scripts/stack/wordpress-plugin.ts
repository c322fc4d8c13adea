/** The zip of the WordPress plugin: its files with the release's version, and its texts in the form that WordPress reads. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { strToU8, type Zippable, zipSync } from 'fflate';
import { root } from './paths.ts';

const source = path.join(root, 'apps/wordpress');
const read = (file: string) => readFileSync(path.join(source, file), 'utf8');

/** The same bytes for the same files, whenever and wherever it is made. */
export function zipWordPressPlugin(version: string): Uint8Array {
  const files: Zippable = {};
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' }).sort()) {
    const [, language] = /^languages\/(.+)\.json$/.exec(file) ?? [];
    if (language) files[`assent/languages/${language}.mo`] = toMo(JSON.parse(read(file)));
    else if (/\.(php|txt)$|^LICENSE$/.test(file))
      files[`assent/${file}`] = strToU8(read(file).replaceAll('__VERSION__', version));
  }
  // by the clock of any time zone
  return zipSync(files, { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o644 << 16 });
}

/** GNU gettext's binary form: a header, two tables of lengths and offsets, and the texts, sorted by the English ones. */
export function toMo(texts: Record<string, string>): Uint8Array {
  const all = { '': 'Content-Type: text/plain; charset=UTF-8\n', ...texts };
  const pairs = Object.entries(all).map((pair) => pair.map((text) => Buffer.from(`${text}\0`)) as [Buffer, Buffer]);
  pairs.sort(([one], [other]) => Buffer.compare(one, other));
  const headerSize = 28;
  const tableSize = 8 * pairs.length;
  const strings = [...pairs.map(([key]) => key), ...pairs.map(([, value]) => value)];
  // WordPress wants the table of hashes, which there is none of, to stand here
  const end = headerSize + 2 * tableSize;
  let offset = end;
  const rows = strings.flatMap(({ length }) => {
    offset += length;
    return [length - 1, offset - length];
  });
  const header = [0x950412de, 0, pairs.length, headerSize, headerSize + tableSize, 0, end];
  return Buffer.concat([Buffer.from(Uint32Array.from([...header, ...rows]).buffer), ...strings]);
}
