/** The zip of the WordPress plugin, as far as it can be checked without WordPress. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { expect, it, onTestFinished, vi } from 'vitest';
import { packs } from '#libs/widget/languages';
import { root } from '../../scripts/stack/paths.ts';
import { zipWordPressPlugin } from '../../scripts/stack/wordpress-plugin.ts';

const folder = path.join(root, 'apps/wordpress');
const zip = () => unzipSync(zipWordPressPlugin('1.2.3'));
const php = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.php'));
const source = php.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('');

it('every text of its pages is in every language of the widget, with the same gaps', () => {
  const english = [...source.matchAll(/\b(?:esc_html)?_[_e]\( '([^']+)', 'assent' \)/g)].map(([, text]) => text);
  const gaps = (text = '') => text.match(/%s/g)?.length ?? 0;
  const files = readdirSync(path.join(folder, 'languages'));
  expect(files.map((file) => file.replace('.json', '')).sort()).toEqual([...packs].sort());
  for (const file of files) {
    const texts: Record<string, string> = JSON.parse(readFileSync(path.join(folder, 'languages', file), 'utf8'));
    expect(Object.keys(texts).sort(), file).toEqual([...new Set(english)].sort());
    for (const [text, translated] of Object.entries(texts)) expect(gaps(translated), translated).toBe(gaps(text));
  }
});

it('it has the version of the release and its own licence, and the same bytes each time', () => {
  const files = zip();
  expect(Object.keys(files).filter((file) => !/\.(php|mo|txt)$/.test(file))).toEqual(['assent/LICENSE']);
  for (const file of ['assent/assent.php', 'assent/readme.txt'])
    expect(strFromU8(files[file] ?? new Uint8Array())).toMatch(/(Version|Stable tag): +1\.2\.3\n/);
  expect(strFromU8(files['assent/LICENSE'] ?? new Uint8Array())).toContain('GNU GENERAL PUBLIC LICENSE');
  const now = zipWordPressPlugin('1.2.3');
  vi.useFakeTimers({ now: new Date('2030-01-01'), toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  expect(Buffer.compare(zipWordPressPlugin('1.2.3'), now)).toBe(0);
});
