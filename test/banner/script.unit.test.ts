/** The file of a published banner, in bytes: what is sent, and what a process keeps. */
import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createScripts, packLine } from '#libs/banner/script';

const widget = Buffer.from(`/* ${randomBytes(10_000).toString('base64')} */`);
const scriptOf = createScripts(widget, Buffer.from('/* extras */'));
const settingsOf = (bytes: number) => JSON.stringify({ texts: { intro: randomBytes(bytes).toString('base64url') } });
const live = { domainId: 'dom_01234567890123456789', version: 1_000, key: `ak_${'x'.repeat(32)}` };

it.each([0, 100, 2_000, 48_000])('settings of %i random bytes add what they take packed, and at most 256', (bytes) => {
  const settings = settingsOf(bytes);
  const packed = packLine({ ...live, settings }, 'https://consent.example.com');
  const { zipped, content } = scriptOf(packed);
  expect(gunzipSync(zipped).toString()).toBe(content.toString());
  const [line = '', ...rest] = content.toString().split('\n');
  expect([line.startsWith('window.assentConfig={'), rest.join('\n')]).toEqual([true, widget.toString()]);
  expect(zipped.length).toBeLessThanOrEqual(gzipSync(widget, { level: 9 }).length + gzipSync(settings).length + 256);
  // nothing else is held by what is kept
  expect(packed.deflated.buffer.byteLength).toBe(packed.deflated.length);
});
