import { describe, expect, it } from 'vitest';
import { compiledRecordBody, recordBody } from '#libs/record/contract';
import { makeId } from '../support/ids.ts';

/** The compiled schema is what the service uses; both must agree. */
function accepts(body: unknown): boolean {
  const compiled = compiledRecordBody.safeParse(body);
  const interpreted = recordBody.safeParse(body);
  expect(compiled.success).toBe(interpreted.success);
  if (compiled.success) expect(compiled.data).toEqual(interpreted.data);
  return compiled.success;
}
const acceptsField = (field: string, value: unknown) => accepts({ decision: 'custom', [field]: value });
const expectField = (field: string, good: readonly unknown[], bad: readonly unknown[]) => {
  expect(good.filter((value) => !acceptsField(field, value))).toEqual([]);
  expect(bad.filter((value) => acceptsField(field, value))).toEqual([]);
};

const entries = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
/** What Postgres cannot store as text. */
const unstorable = ['\0', 'a\0', '\0b', 'a\nb\0', '\ud800', '\udfff', 'a\ud83d', '\ude00b', '\ude00\ud83d'];
const storable = ['ß', '訪客', '🧑🏽‍🚀', '\u0001', '\uffff', '\ud83d\ude00', 'line\nline'];

it('a body is a map with a decision; it loses its unknown fields and keeps the rest', () => {
  for (const body of [undefined, null, 'text', 1, [], [{ decision: 'custom' }], {}]) expect(accepts(body)).toBe(false);
  const body = { decision: 'custom', visitorId: 'anna', unknown: 1, receivedAt: 'x', domainId: 'x' };
  expect(compiledRecordBody.parse(body)).toEqual({ decision: 'custom', visitorId: 'anna' });
});

it.each(Object.keys(recordBody.shape).filter((field) => field !== 'decision'))(
  '%s may be left out, and is not null',
  (field) => expectField(field, [undefined], [null]),
);

const uuidv4 = '018df229-3f70-4131-b028-ead1f76cec52';
const longestLanguage = 'abcdefgh-abcdefgh-abcdefgh-abcdefgh';
const page = 'https://example.com/';
it.each<[string, unknown[], unknown[]]>([
  [
    'decision',
    ['accept_all', 'reject_all', 'custom', 'withdraw'],
    [undefined, null, '', 'ACCEPT_ALL', 'accept-all', 'accept_all ', 'toString', 1, true, ['custom'], {}],
  ],
  ['id', [makeId(), makeId().toUpperCase()], ['', 'x', 7, uuidv4, `${makeId()}\n`]],
  ['source', ['banner', 'preferences', 'gpc', 'api', 'import'], ['', 'Banner', 'other', 1]],
  ['gpc', [true, false], ['true', '1', 1, 0]],
  ['language', ['de', 'en-GB', 'zh-Hant-TW', 'x-private', 'sl-rozaj-biske-1994', longestLanguage], [7, '']],
  ['language', [], ['de_DE', 'en-', '-en', 'e n', 'abcdefghi', '1a', 'de\n', 'dé', `${longestLanguage}x`]],
  // 36 characters with well-formed parts
  ['language', ['abcdefg-abcdefg-abcdefg-abcdefg-abc'], ['abcdefg-abcdefg-abcdefg-abcdefg-abcd']],
  ['pageUrl', [page.padEnd(2048, 'x'), 'http://localhost:8080', 'https://[::1]/'], [page.padEnd(2049, 'x'), 7, '']],
  ['pageUrl', ['HTTPS://EXAMPLE.COM/a?b#c', 'https://user:pass@example.com/ä'], ['https:example.com', 'https://']],
  ['pageUrl', [], ['example.com', '/path', '//example.com', ' https://example.com', 'https://exa mple.com']],
  ['pageUrl', [], ['ftp://example.com', 'javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd']],
  ['pageUrl', [], ['https://example.com:99999', 'https://example.com/\0', 'https://example.com/\ud800']],
  ['preferences', [{}, entries(64, true)], [entries(65, true), [], [true], 'text', 1, true]],
  ['preferences', [], ['true', 1, null, {}, []].map((value) => ({ analytics: value }))],
  ['metadata', [{}, entries(16, 1)], [entries(17, 1), [], ['text'], 'text', 1, true]],
])('%s is taken as %j, not as %j', expectField);

it.each([
  ['visitorId', 1, 128],
  ['bannerVersion', 0, 64],
  ['policyVersion', 0, 64],
  ['tcString', 0, 4096],
  ['gppString', 0, 4096],
])('%s is a text of %i to %i characters that can be stored', (field, min, max) => {
  const wrong = ['x'.repeat(max + 1), ...(min > 0 ? [''] : []), 1, true, ['text'], { text: 'text' }];
  expectField(field, ['x'.repeat(min), 'x'.repeat(max), ...storable], [...wrong, ...unstorable]);
});

describe.each([
  ['preferences', true],
  ['metadata', 'text'],
])('the names in %s', (field, value) => {
  it('have 1 to 64 characters of the allowed ones', () => {
    const good = ['a', 'A9_.:-', 'x'.repeat(64), 'ads.personal:eu-1', 'hasOwnProperty', 'toString', '_proto_'];
    const bad = ['', 'x'.repeat(65), 'a b', 'ä', 'a/b', 'a\n', '\0', 'a"b', 'a,b', 'constructor', 'prototype'];
    const named = (name: string) => ({ [name]: value });
    expectField(field, good.map(named), bad.map(named));
  });

  it('cannot reach the prototype of what is made of them', () => {
    const text = JSON.stringify(value);
    const body: unknown = JSON.parse(`{"decision":"custom","${field}":{"__proto__":${text},"a":${text}}}`);
    const result = compiledRecordBody.safeParse(body);
    if (result.success)
      expect(JSON.stringify(result.data)).toBe(JSON.stringify({ decision: 'custom', [field]: { a: value } }));
  });
});

describe('metadata', () => {
  it('is at most 1 KiB as JSON, in bytes', () => {
    const ofSize = (bytes: number, filler: string) => {
      const rest = bytes - Buffer.byteLength(JSON.stringify({ a: '', b: '' }));
      const each = Buffer.byteLength(filler);
      return { a: filler.repeat(Math.floor(rest / each)), b: 'x'.repeat(rest % each) };
    };
    // what JSON escapes counts as it is written
    expectField('metadata', [], [{ a: '\n'.repeat(600) }]);
    for (const filler of ['x', 'ß', '🎈']) expectField('metadata', [ofSize(1024, filler)], [ofSize(1025, filler)]);
  });

  it('holds texts that can be stored, booleans and safe numbers, and is flat', () => {
    const safe = Number.MAX_SAFE_INTEGER;
    const good = ['', '1', 'ß', true, false, 0, -0, 1.5, 5e-324, safe, -safe];
    const numbers = [safe + 1, -safe - 1, 1e300, Number.NaN, Infinity, -Infinity, 1n];
    const bad = [...numbers, ...unstorable, null, undefined, {}, [], [1]];
    const keyed = (key: unknown) => ({ key });
    expectField('metadata', good.map(keyed), bad.map(keyed));
  });
});
