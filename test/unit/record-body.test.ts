import { describe, expect, it } from 'vitest';
import { compiledRecordBody, recordBody } from '#libs/contract/record';
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

const entries = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
const loneSurrogates = ['\ud800', '\udfff', 'a\ud83d', '\ude00b', '\ude00\ud83d'];

describe('decision', () => {
  it.each(['accept_all', 'reject_all', 'custom', 'withdraw'])('may be %s', (decision) => {
    expect(accepts({ decision })).toBe(true);
  });
  it.each([undefined, null, '', 'ACCEPT_ALL', 'accept-all', 'accept_all ', 'toString', 1, true, ['custom'], {}])(
    'may not be %j',
    (decision) => {
      expect(accepts({ decision })).toBe(false);
    },
  );
});

describe('a body', () => {
  it.each([undefined, null, 'text', 1, [], [{ decision: 'custom' }]])('may not be %j', (body) => {
    expect(accepts(body)).toBe(false);
  });
  it('loses its unknown fields and keeps the rest', () => {
    const body = { decision: 'custom', visitorId: 'anna', unknown: 1, receivedAt: 'x', domainId: 'x' };
    expect(compiledRecordBody.parse(body)).toEqual({ decision: 'custom', visitorId: 'anna' });
  });
  it.each([
    'id',
    'visitorId',
    'preferences',
    'source',
    'bannerVersion',
    'policyVersion',
    'language',
    'pageUrl',
    'tcString',
    'gppString',
    'gpc',
    'metadata',
  ])('may leave %s out, but not send null for it', (field) => {
    expect(acceptsField(field, undefined)).toBe(true);
    expect(acceptsField(field, null)).toBe(false);
  });
});

describe.each([
  ['visitorId', 1, 128],
  ['bannerVersion', 0, 64],
  ['policyVersion', 0, 64],
  ['tcString', 0, 4096],
  ['gppString', 0, 4096],
])('%s', (field, min, max) => {
  it(`is a string of ${min} to ${max}`, () => {
    expect(acceptsField(field, 'x'.repeat(min))).toBe(true);
    expect(acceptsField(field, 'x'.repeat(max))).toBe(true);
    expect(acceptsField(field, 'x'.repeat(max + 1))).toBe(false);
    if (min > 0) expect(acceptsField(field, 'x'.repeat(min - 1))).toBe(false);
  });
  it.each([1, true, ['text'], { text: 'text' }])('is no %j', (value) => {
    expect(acceptsField(field, value)).toBe(false);
  });
  it('is well-formed Unicode without NUL', () => {
    for (const value of ['ß', '訪客', '🧑🏽‍🚀', '\u0001', '\uffff', '\ud83d\ude00', 'line\nline'])
      expect(acceptsField(field, value), JSON.stringify(value)).toBe(true);
    for (const value of ['\0', 'a\0', '\0b', 'a\nb\0', ...loneSurrogates])
      expect(acceptsField(field, value), JSON.stringify(value)).toBe(false);
  });
});

describe('id', () => {
  it('is a UUIDv7 in either case', () => {
    expect(acceptsField('id', makeId())).toBe(true);
    expect(acceptsField('id', makeId().toUpperCase())).toBe(true);
    for (const id of ['', 'x', 7, '018df229-3f70-4131-b028-ead1f76cec52', `${makeId()}\n`])
      expect(acceptsField('id', id)).toBe(false);
  });
});

describe('source', () => {
  it('is one of five', () => {
    for (const source of ['banner', 'preferences', 'gpc', 'api', 'import'])
      expect(acceptsField('source', source)).toBe(true);
    for (const source of ['', 'Banner', 'other', 1]) expect(acceptsField('source', source)).toBe(false);
  });
});

describe('gpc', () => {
  it('is a boolean, not the look of one', () => {
    for (const gpc of [true, false]) expect(acceptsField('gpc', gpc)).toBe(true);
    for (const gpc of ['true', '1', 1, 0]) expect(acceptsField('gpc', gpc)).toBe(false);
  });
});

describe('language', () => {
  it('is a language tag of at most 35 characters', () => {
    const longest = 'abcdefgh-abcdefgh-abcdefgh-abcdefgh';
    expect(longest).toHaveLength(35);
    for (const language of ['de', 'en-GB', 'zh-Hant-TW', 'x-private', 'sl-rozaj-biske-1994', longest])
      expect(acceptsField('language', language), language).toBe(true);
    for (const language of [
      '',
      'de_DE',
      'en-',
      '-en',
      'e n',
      'abcdefghi',
      '1a',
      'de\n',
      'dé',
      `${longest}x`,
      `${longest}-x`,
      7,
    ])
      expect(acceptsField('language', language), String(language)).toBe(false);
  });
  it('of 36 characters with well-formed parts is too long', () => {
    expect(acceptsField('language', 'abcdefg-abcdefg-abcdefg-abcdefg-abcd')).toBe(false);
    expect(acceptsField('language', 'abcdefg-abcdefg-abcdefg-abcdefg-abc')).toBe(true);
  });
});

describe('pageUrl', () => {
  it('is an http or https address of at most 2048 characters', () => {
    const base = 'https://example.com/';
    expect(acceptsField('pageUrl', base.padEnd(2048, 'x'))).toBe(true);
    expect(acceptsField('pageUrl', base.padEnd(2049, 'x'))).toBe(false);
    for (const url of [
      'http://localhost:8080',
      'HTTPS://EXAMPLE.COM/a?b#c',
      'https://user:pass@example.com/ä',
      'https://[::1]/',
    ])
      expect(acceptsField('pageUrl', url), url).toBe(true);
  });
  it.each([
    '',
    'example.com',
    '/path',
    '//example.com',
    'ftp://example.com',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https:example.com',
    'https://',
    'https://exa mple.com',
    ' https://example.com',
    'https://example.com:99999',
    'https://example.com/\0',
    'https://example.com/\ud800',
    7,
  ])('is not %j', (url) => {
    expect(acceptsField('pageUrl', url)).toBe(false);
  });
});

describe.each([
  ['preferences', true],
  ['metadata', 'text'],
])('the names in %s', (field, value) => {
  it('have 1 to 64 characters of the allowed ones', () => {
    for (const name of ['a', 'A9_.:-', 'x'.repeat(64), 'ads.personal:eu-1', 'hasOwnProperty', 'toString', '_proto_'])
      expect(acceptsField(field, { [name]: value }), name).toBe(true);
    for (const name of ['', 'x'.repeat(65), 'a b', 'ä', 'a/b', 'a\n', '\0', 'a"b', 'a,b'])
      expect(acceptsField(field, { [name]: value }), JSON.stringify(name)).toBe(false);
  });
  it.each(['constructor', 'prototype'])('may not be %s', (name) => {
    expect(acceptsField(field, { [name]: value })).toBe(false);
  });
  it('cannot reach the prototype of what is made of them', () => {
    const body: unknown = JSON.parse(
      `{"decision":"custom","${field}":{"__proto__":${JSON.stringify(value)},"a":${JSON.stringify(value)}}}`,
    );
    const result = compiledRecordBody.safeParse(body);
    if (result.success)
      expect(JSON.stringify(result.data)).toBe(JSON.stringify({ decision: 'custom', [field]: { a: value } }));
  });
  it('are those of a map', () => {
    for (const map of [[], [value], 'text', 1, true]) expect(acceptsField(field, map)).toBe(false);
    expect(acceptsField(field, {})).toBe(true);
  });
});

describe('preferences', () => {
  it('has at most 64 entries, all booleans', () => {
    expect(acceptsField('preferences', entries(64, true))).toBe(true);
    expect(acceptsField('preferences', entries(65, true))).toBe(false);
    for (const value of ['true', 1, null, {}, []])
      expect(acceptsField('preferences', { analytics: value })).toBe(false);
  });
});

describe('metadata', () => {
  it('has at most 16 entries', () => {
    expect(acceptsField('metadata', entries(16, 1))).toBe(true);
    expect(acceptsField('metadata', entries(17, 1))).toBe(false);
  });
  it('is at most 1 KiB as JSON, in bytes', () => {
    const ofSize = (bytes: number, filler = 'x') => {
      const rest = bytes - Buffer.byteLength(JSON.stringify({ a: '', b: '' }));
      const each = Buffer.byteLength(filler);
      return { a: filler.repeat(Math.floor(rest / each)), b: 'x'.repeat(rest % each) };
    };
    for (const filler of ['x', 'ß', '🎈']) {
      expect(acceptsField('metadata', ofSize(1024, filler)), filler).toBe(true);
      expect(acceptsField('metadata', ofSize(1025, filler)), filler).toBe(false);
    }
    // what JSON escapes counts as it is written
    expect(acceptsField('metadata', { a: '\n'.repeat(600) })).toBe(false);
  });
  it('holds strings, booleans and safe numbers, and is flat', () => {
    const safe = Number.MAX_SAFE_INTEGER;
    for (const value of ['', '1', 'ß', true, false, 0, -0, 1.5, 5e-324, safe, -safe])
      expect(acceptsField('metadata', { key: value }), String(value)).toBe(true);
    for (const value of [safe + 1, -safe - 1, 1e300, Number.NaN, Infinity, -Infinity, null, undefined, {}, [], [1], 1n])
      expect(acceptsField('metadata', { key: value }), String(value)).toBe(false);
  });
  it('holds no NUL and no half of a surrogate pair', () => {
    for (const value of ['a\0b', ...loneSurrogates]) expect(acceptsField('metadata', { key: value })).toBe(false);
  });
});
