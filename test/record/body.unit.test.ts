/** What is taken of a body, in both forms of handling: test values are those that clients send, and what no field may be. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordBody } from '#libs/record/contract';
import { checkRecord } from '#libs/record/post';
import { mapLimits, storedPageUrl } from '#libs/record/rules';
import { displayBody } from '#libs/stats/contract';
import { checkDisplay } from '#libs/stats/post-display';
import { makeId } from '../support/ids.ts';

const strictly = (body: Record<string, unknown>) => checkRecord(body, { isStrict: true });
const pathsOf = (body: Record<string, unknown>) => strictly(body).broken?.map(({ path }) => path);
const accepts = (field: string, value: unknown) => strictly({ decision: 'custom', [field]: value }).body !== undefined;
const expectField = (field: string, good: readonly unknown[], bad: readonly unknown[]) => {
  expect(good.filter((value) => !accepts(field, value))).toEqual([]);
  expect(bad.filter((value) => accepts(field, value))).toEqual([]);
};
/** With whatever decision: those whose categories mean nothing, too. */
const leniently = (fields: object, origin?: string) => {
  const { body, leftOut } = checkRecord({ decision: 'accept_all', ...fields }, { origin });
  const { decision: _, ...kept } = body ?? { decision: 'refused' };
  return [kept, leftOut?.map(({ field }) => field)];
};

const entries = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
/** What Postgres cannot store as text. */
const unstorable = ['\0', 'a\0', '\0b', 'a\nb\0', '\ud800', '\udfff', 'a\ud83d', '\ude00b', '\ude00\ud83d'];
const storable = ['ß', '訪客', '🧑🏽‍🚀', '\u0001', '\uffff', '\ud83d\ude00', 'line\nline'];
const uuidv4 = '018df229-3f70-4131-b028-ead1f76cec52';
const longestLanguage = 'abcdefgh-abcdefgh-abcdefgh-abcdefgh';
const page = 'https://example.com/';

describe('strictly', () => {
  it.each<[string, unknown[], unknown[]]>([
    [
      'decision',
      ['accept_all', 'reject_all', 'custom', 'withdraw'],
      [undefined, null, '', 'ACCEPT_ALL', 'accept-all', 'accept_all ', 'toString', 1, true, ['custom'], {}],
    ],
    ['id', [makeId(), makeId().toUpperCase()], ['', 'x', 7, uuidv4, `${makeId()}\n`]],
    ['source', ['banner', 'preferences', 'gpc', 'api', 'import'], ['', 'Banner', 'other', 1]],
    ['gpc', [true, false], ['true', '1', 1, 0]],
    [
      'language',
      ['de', 'en-GB', 'zh-Hant-TW', 'x-private', 'i-klingon', 'sl-rozaj-biske-1994', longestLanguage],
      [7, ''],
    ],
    [
      'language',
      [],
      ['de_DE', 'en-', '-en', 'e n', 'C', 'x', 'i-', 'a-DE', 'abcdefghi', '1a', 'de\n', 'dé', `${longestLanguage}x`],
    ],
    // 36 characters with well-formed parts
    ['language', ['abcdefg-abcdefg-abcdefg-abcdefg-abc'], ['abcdefg-abcdefg-abcdefg-abcdefg-abcd']],
    ['pageUrl', [page.padEnd(2048, 'x'), 'http://localhost:8080', 'https://[::1]/'], [page.padEnd(2049, 'x'), 7, '']],
    ['pageUrl', ['HTTPS://EXAMPLE.COM/a?b#c', 'https://user:pass@example.com/ä'], ['https:example.com', 'https://']],
    ['pageUrl', ['capacitor://localhost/x', 'app:///index.html', 'ftp://example.com'], ['example.com', '/path']],
    ['pageUrl', [], ['//example.com', ' https://example.com', 'https://exa mple.com', 'https://example.com:99999']],
    ['pageUrl', [], ['javascript://%0aalert(1)', 'DATA://text/html,x', 'file:///etc/passwd', 'about://blank']],
    ['pageUrl', [`${page}?${'x'.repeat(3_000)}`, `${page}#a b`], ['blob:https://example.com/x', `${page}\0`]],
    ['preferences', [{}, entries(64, true)], [entries(65, true), [true], 'text', 1, true]],
    ['preferences', [], ['true', 1, {}, []].map((value) => ({ analytics: value }))],
    ['metadata', [{}, entries(16, 1)], [entries(17, 1), ['text'], 'text', 1, true]],
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

  it.each([
    ['preferences', true],
    ['metadata', 'text'],
  ])('the names in %s have 1 to 64 of the allowed characters, and cannot reach a prototype', (field, value) => {
    const good = ['a', 'A9_.:-', 'x'.repeat(64), 'ads.personal:eu-1', 'hasOwnProperty', 'toString', '_proto_'];
    const bad = ['', 'x'.repeat(65), 'a b', 'ä', 'a/b', 'a\n', '\0', 'a"b', 'a,b', 'constructor', 'prototype'];
    const named = (name: string) => Object.fromEntries([[name, value]]);
    expectField(field, good.map(named), [...bad, '__proto__'].map(named));
  });

  it('metadata is at most 1 KiB as JSON, in bytes, of texts, booleans and safe numbers', () => {
    const ofSize = (bytes: number, filler: string) => {
      const rest = bytes - Buffer.byteLength(JSON.stringify({ a: '', b: '' }));
      const each = Buffer.byteLength(filler);
      return { a: filler.repeat(Math.floor(rest / each)), b: 'x'.repeat(rest % each) };
    };
    // what JSON escapes counts as it is written
    expectField('metadata', [], [{ a: '\n'.repeat(600) }]);
    for (const filler of ['x', 'ß', '🎈']) expectField('metadata', [ofSize(1024, filler)], [ofSize(1025, filler)]);
    const safe = Number.MAX_SAFE_INTEGER;
    const good = ['', '1', 'ß', true, false, 0, -0, 1.5, 5e-324, safe, -safe];
    const bad = [safe + 1, -safe - 1, 1e300, Number.NaN, Infinity, -Infinity, 1n, ...unstorable, {}, [], [1]];
    const keyed = (key: unknown) => ({ key });
    expectField('metadata', good.map(keyed), bad.map(keyed));
  });

  it('names all that is wrong: fields, what no field is, and other words for booleans', () => {
    const wrong = { gpc: 'x', preferences: { a: 'granted', 'b/~': true }, language: 'en_US', visitorId: 7, unknown: 1 };
    const paths = ['/visitorId', '/preferences/a', '/preferences/b~1~0', '/language', '/gpc', '/unknown'];
    expect(pathsOf({ decision: 'custom', ...wrong })).toEqual(paths);
  });
});

describe('leniently', () => {
  const granted = { ad_storage: 'granted', b: 'Denied', c: 'YES', d: 'no', e: 1, f: 0, g: 'TRUE', h: 'false', i: null };
  const thai = `https://example.com/${'%E0%B8%81'.repeat(250)}`;

  it.each<[string, object, object, string[], string?]>([
    ['null', { visitorId: null, pageUrl: null, id: null, preferences: null, unknown: null }, {}, []],
    ['empty lists of PHP', { preferences: [], metadata: [] }, { preferences: {}, metadata: {} }, []],
    ['null in maps', { metadata: { plan: null, shop: 'north' } }, { metadata: { shop: 'north' } }, []],
    [
      'numbers for texts',
      { visitorId: 12345, variant: 2, bannerVersion: 1.5 },
      { visitorId: '12345', variant: '2', bannerVersion: '1.5' },
      [],
    ],
    ['numbers that are no id', { visitorId: 1.5, policyVersion: Infinity }, {}, ['visitorId', 'policyVersion']],
    ['upper case', { notice: 'AB'.repeat(32) }, { notice: 'ab'.repeat(32) }, []],
    ['a locale', { language: 'en_US' }, { language: 'en-US' }, []],
    ['a locale of POSIX', { language: 'en_US.UTF-8' }, { language: 'en-US' }, []],
    ['a locale with a modifier', { language: 'sv_SE@euro' }, { language: 'sv-SE' }, []],
    ['blanks', { pageUrl: ' https://shop.example/a b\n' }, { pageUrl: 'https://shop.example/a%20b' }, []],
    ['blanks in a host', { pageUrl: 'https://exa mple.com/' }, {}, ['pageUrl']],
    ['a header’s list', { language: 'de-DE,de;q=0.9' }, { language: 'de-DE' }, []],
    ['a path', { pageUrl: '/about' }, { pageUrl: 'https://shop.example/about' }, [], 'https://shop.example'],
    ['a path of no site', { pageUrl: '/about' }, {}, ['pageUrl']],
    ['another host', { pageUrl: '//evil.example/x' }, {}, ['pageUrl'], 'https://shop.example'],
    ['an address that is too long', { pageUrl: thai }, {}, ['pageUrl']],
    ['a text that is too long', { tcString: 'x'.repeat(5_000), gppString: 'x' }, { gppString: 'x' }, ['tcString']],
    [
      'what no entry is',
      JSON.parse('{"metadata":{"__proto__":1,"a b":1,"c":{},"d":1}}'),
      { metadata: { d: 1 } },
      ['metadata.__proto__', 'metadata.a b', 'metadata.c'],
    ],
    ['entries of more than 1 KiB', { metadata: entries(3, 'x'.repeat(500)) }, {}, ['metadata']],
    [
      'words',
      { preferences: granted },
      { preferences: { ad_storage: true, b: false, c: true, d: false, e: true, f: false, g: true, h: false } },
      [],
    ],
    ['no words', { preferences: { a: 'maybe', b: true } }, { preferences: { b: true } }, ['preferences.a']],
    ['no map', { preferences: 'all', metadata: 7 }, {}, ['preferences', 'metadata']],
    ['what is no field', { visitorID: 'x', gpc: 'yes' }, {}, ['gpc', 'visitorID']],
  ])('takes %s', (_, fields, kept, leftOut, origin) => {
    expect(leniently(fields, origin)).toEqual([kept, leftOut]);
  });

  it('refuses what decides: the decision, the id, and the categories of a custom record', () => {
    const refused = (body: Record<string, unknown>) => checkRecord(body).broken?.map(({ path }) => path);
    expect(refused({ decision: null, gpc: 'x' })).toEqual(['/decision']);
    expect(refused({ decision: 'withdraw', id: 'x', gpc: 'x' })).toEqual(['/id']);
    expect(refused({ decision: 'custom', preferences: { a: 'maybe', b: 'yes' } })).toEqual(['/preferences/a']);
    expect(refused({ decision: 'custom', preferences: entries(65, true) })).toEqual(['/preferences']);
    expect(refused(JSON.parse('{"decision":"custom","preferences":{"__proto__":true}}'))).toEqual([
      '/preferences/__proto__',
    ]);
  });

  it('says of what it left out the rule, the type and the length', () => {
    const wrong = { tcString: 'x'.repeat(5_000), gpc: [1, 2], metadata: { a: {} } };
    expect(checkRecord({ decision: 'withdraw', ...wrong }).leftOut).toEqual([
      { field: 'tcString', why: 'must be at most 4096 characters', type: 'string', length: 5_000 },
      { field: 'gpc', why: 'must be a boolean', type: 'list', length: 2 },
      { field: 'metadata.a', why: 'must be a string, a safe number or a boolean', type: 'map', length: 0 },
    ]);
  });
});

/** Each type, at the bounds and beyond; what a new field takes is among them, or it is refused like the rest. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    ...unstorable,
    '',
    ...[35, 36, 64, 65, 128, 129, 2_048, 2_049, 4_096, 4_097].map((n) => 'x'.repeat(n)),
  ),
  fc.constantFrom('en_US', 'de,en;q=0.5', '/about', 'capacitor://localhost/x', 'a'.repeat(64), 'banner', 'yes', 'true'),
);
const anyNumber = fc.oneof(fc.double(), fc.maxSafeInteger(), fc.constantFrom(0, 1, -0, 2 ** 53, 1e308));
const anyScalar = fc.oneof(anyText, anyNumber, fc.boolean(), fc.constant(null));
const anyMap = fc.dictionary(fc.oneof(fc.constantFrom('a', '__proto__', 'a b'), fc.string()), anyScalar);
const crowded = fc.nat(70).map((count) => entries(count, true));
const anyValue = fc.oneof(anyScalar, anyMap, crowded, fc.array(anyScalar, { maxLength: 2 }), fc.jsonValue());

describe.each([
  ['a record', checkRecord, recordBody, { decision: 'reject_all' }],
  ['a display', checkDisplay, displayBody, {}],
] as const)('of %s', (_, check, schema, least) => {
  const describing = Object.keys(schema.shape).filter((field) => !['decision', 'id'].includes(field));

  it('null is absence in every field but what is required', () => {
    const nothing = Object.fromEntries(Object.keys(schema.shape).map((field) => [field, null]));
    for (const isStrict of [false, true])
      expect(check({ ...nothing, unknown: null, ...least }, { isStrict })).toEqual({ body: least, leftOut: [] });
  });

  it.each(describing)('%s costs nothing else, whatever is sent as it', (field) =>
    fc.assert(
      fc.property(anyValue, fc.constantFrom(undefined, 'null', 'https://shop.example'), (value, origin) => {
        const given = { ...least, [field]: value };
        const { body, leftOut = [] } = check(given, { origin });
        const strict = check(given, { origin, isStrict: true });
        // as if it were absent or right
        expect(schema.safeParse(body)).toEqual({ success: true, data: body });
        expect({ ...body, [field]: undefined }).toEqual({ ...least, [field]: undefined });
        for (const each of leftOut) expect(each.field.split('.')[0]).toBe(field);
        if (strict.body) expect([body, leftOut]).toEqual([strict.body, []]);
        else {
          expect(new Set(strict.broken?.map(({ path }) => path.split('/')[1]))).toEqual(new Set([field]));
          // named, or mended
          expect(leftOut.length > 0 || body?.[field as keyof typeof body] !== undefined).toBe(true);
        }
      }),
    ),
  );
});

it('every map has a limit of its own, which is checked before its entries', () => {
  const maps = Object.entries(recordBody.shape).filter(([, rule]) => rule.safeParse({}).success);
  expect(maps.map(([field]) => field)).toEqual(Object.keys(mapLimits));
});

it.each([
  ['https://ann:secret@example.com/a?b#c', 'https://example.com/a'],
  ['https://ann@example.com:8443/a?b@c', 'https://example.com:8443/a'],
  ['https:///ann:secret@example.com/a', 'https://example.com/a'],
  ['https://example.com/a#b?c', 'https://example.com/a'],
  ['http://[2001:db8::1]:8080/x?y', 'http://[2001:db8::1]:8080/x'],
  ['https://example.com/@ann/post?x=1', 'https://example.com/@ann/post'],
  ['capacitor://ann:secret@localhost/x', 'capacitor://localhost/x'],
])('%s is stored without what can identify the visitor', (sent, stored) => {
  expect(storedPageUrl(sent)).toBe(stored);
});
