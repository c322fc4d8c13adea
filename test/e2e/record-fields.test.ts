import { beforeAll, describe, expect, it } from 'vitest';
import { decisions, sources } from '#libs/contract/terms';
import { makeId } from '../support/ids.ts';
import { expectBlame } from '../support/problems.ts';
import { type Stack, useStack } from '../support/stack.ts';

const entries = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, value]));
/** JSON.parse, unlike a literal, makes an entry of this name. */
const withProto: unknown = JSON.parse('{"__proto__":true}');
const ofVersion = (version: number | string) => makeId().replace(/^(.{14})7/, `$1${version}`);
const page = (length: number) => `https://example.com/${'x'.repeat(length - 'https://example.com/'.length)}`;
/** {"k":"…"} of that many bytes */
const metadataOf = (bytes: number) => ({ k: 'x'.repeat(bytes - '{"k":""}'.length) });

describe('the fields of a record', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStack();
  });

  const record = (fields: object) => stack.client.record(stack.domainId, stack.apiKey, fields);

  it.each<[string, object]>([
    ...decisions.map((decision): [string, object] => [`decision ${decision}`, { decision }]),
    ...sources.map((source): [string, object] => [`source ${source}`, { source }]),
    ['an id in upper case', { id: makeId().toUpperCase() }],
    ['a visitorId of 1 character', { visitorId: 'v' }],
    ['a visitorId of 128', { visitorId: 'v'.repeat(128) }],
    ['a visitorId outside the basic plane', { visitorId: '👋🏽' }],
    ['no preferences', { preferences: {} }],
    ['64 preferences', { preferences: entries(64, true) }],
    ['a preference whose name has 64 characters', { preferences: { ['n'.repeat(64)]: false } }],
    ['a preference whose name has all kinds of characters', { preferences: { 'Az09_.:-': true } }],
    ['a bannerVersion of 64', { bannerVersion: 'b'.repeat(64) }],
    ['a policyVersion of 64', { policyVersion: 'p'.repeat(64) }],
    ['a language with region', { language: 'de-AT' }],
    ['a language of 35', { language: 'zh-Hant-CN-x-private1-private2-abcd' }],
    ['a pageUrl of 2048', { pageUrl: page(2048) }],
    ['a pageUrl over http', { pageUrl: 'http://example.com/' }],
    ['a tcString and a gppString of 4096', { tcString: 't'.repeat(4096), gppString: 'g'.repeat(4096) }],
    ['gpc true', { gpc: true }],
    ['gpc false', { gpc: false }],
    ['metadata of all three kinds', { metadata: { text: 'x', number: -1.5, flag: false } }],
    ['a notice', { notice: 'a0'.repeat(32) }],
    ['a variant of 64', { variant: 'v'.repeat(64) }],
    ['16 entries of metadata', { metadata: entries(16, 1) }],
    ['metadata of 1 KiB', { metadata: metadataOf(1024) }],
    ['the largest safe numbers', { metadata: { a: Number.MAX_SAFE_INTEGER, b: Number.MIN_SAFE_INTEGER } }],
  ])('%s: accepted', async (_, fields) => {
    const { status, body } = await record({ decision: 'custom', ...fields });
    expect({ status, ignored: body.ignored }).toEqual({ status: 202, ignored: undefined });
  });

  it.each<[string, object, ...string[]]>([
    ['no decision', { decision: undefined }, '/decision'],
    ['decision null', { decision: null }, '/decision'],
    ['an unknown decision', { decision: 'accept' }, '/decision'],
    ['a decision in upper case', { decision: 'ACCEPT_ALL' }, '/decision'],
    ['a decision as a list', { decision: ['accept_all'] }, '/decision'],
    ['a decision from the prototype', { decision: 'toString' }, '/decision'],
    ['an id that is no UUID', { id: 'x' }, '/id'],
    ['an empty id', { id: '' }, '/id'],
    ['an id with braces', { id: `{${makeId()}}` }, '/id'],
    ['an id with a line break', { id: `${makeId()}\n` }, '/id'],
    ...[1, 2, 3, 4, 5, 6, 8, 'f'].map((version): [string, object, string] => [
      `a UUID of version ${version}`,
      { id: ofVersion(version) },
      '/id',
    ]),
    ['a UUIDv7 of another variant', { id: makeId().replace(/^(.{19})./, '$1c') }, '/id'],
    ['an id that is a number', { id: 17 }, '/id'],
    ['an empty visitorId', { visitorId: '' }, '/visitorId'],
    ['a visitorId of 129', { visitorId: 'v'.repeat(129) }, '/visitorId'],
    ['a visitorId that is a number', { visitorId: 17 }, '/visitorId'],
    ['a visitorId that is null', { visitorId: null }, '/visitorId'],
    ['NUL in the visitorId', { visitorId: 'a\0b' }, '/visitorId'],
    ['half a surrogate pair', { visitorId: 'a\ud800b' }, '/visitorId'],
    ['the other half', { bannerVersion: '\udc00' }, '/bannerVersion'],
    ['surrogates in the wrong order', { policyVersion: '\udc00\ud800' }, '/policyVersion'],
    ['65 preferences', { preferences: entries(65, true) }, '/preferences'],
    ['preferences as a list', { preferences: [] }, '/preferences'],
    ['preferences as text', { preferences: '{}' }, '/preferences'],
    ['a preference that is a string', { preferences: { ads: 'true' } }, '/preferences/ads'],
    ['a preference that is a number', { preferences: { ads: 1 } }, '/preferences/ads'],
    ['a preference that is null', { preferences: { ads: null } }, '/preferences/ads'],
    ['a preference with an empty name', { preferences: { '': true } }, '/preferences/'],
    [
      'a preference whose name has 65 characters',
      { preferences: { ['n'.repeat(65)]: true } },
      `/preferences/${'n'.repeat(65)}`,
    ],
    ['a preference whose name has a space', { preferences: { 'a b': true } }, '/preferences/a b'],
    ['a preference whose name needs escaping', { preferences: { 'a/b~c': true } }, '/preferences/a~1b~0c'],
    ['__proto__ in preferences', { preferences: withProto }, '/preferences/__proto__'],
    ['constructor in preferences', { preferences: { constructor: true } }, '/preferences/constructor'],
    ['prototype in preferences', { preferences: { prototype: true } }, '/preferences/prototype'],
    ['an unknown source', { source: 'email' }, '/source'],
    ['a bannerVersion of 65', { bannerVersion: 'b'.repeat(65) }, '/bannerVersion'],
    ['a bannerVersion that is a number', { bannerVersion: 2 }, '/bannerVersion'],
    ['a policyVersion of 65', { policyVersion: 'p'.repeat(65) }, '/policyVersion'],
    ['a language of 36', { language: 'zh-Hant-CN-x-private1-private2-abcde' }, '/language'],
    ['a language that is none', { language: 'de_AT' }, '/language'],
    ['an empty language', { language: '' }, '/language'],
    ['a pageUrl of 2049', { pageUrl: page(2049) }, '/pageUrl'],
    ['a pageUrl of another scheme', { pageUrl: 'ftp://example.com/' }, '/pageUrl'],
    ['a pageUrl that is a script', { pageUrl: 'javascript:alert(1)//https://example.com' }, '/pageUrl'],
    ['a pageUrl without a scheme', { pageUrl: 'example.com/page' }, '/pageUrl'],
    ['a pageUrl without a host', { pageUrl: 'https://' }, '/pageUrl'],
    ['a pageUrl with half a surrogate pair', { pageUrl: 'https://example.com/\ud800' }, '/pageUrl'],
    ['a tcString of 4097', { tcString: 't'.repeat(4097) }, '/tcString'],
    ['a gppString of 4097', { gppString: 'g'.repeat(4097) }, '/gppString'],
    ['NUL in the tcString', { tcString: '\0' }, '/tcString'],
    ['gpc as text', { gpc: 'true' }, '/gpc'],
    ['gpc as a number', { gpc: 1 }, '/gpc'],
    ['a notice of 63 digits', { notice: 'a'.repeat(63) }, '/notice'],
    ['a notice of 65 digits', { notice: 'a'.repeat(65) }, '/notice'],
    ['a notice in upper case', { notice: 'A'.repeat(64) }, '/notice'],
    ['a notice with another letter', { notice: 'g'.repeat(64) }, '/notice'],
    ['a notice with a line break', { notice: `${'a'.repeat(64)}\n` }, '/notice'],
    ['a notice that is the document', { notice: { language: 'de' } }, '/notice'],
    ['a variant of 65', { variant: 'v'.repeat(65) }, '/variant'],
    ['a variant that is a number', { variant: 2 }, '/variant'],
    ['NUL in the variant', { variant: 'a\0b' }, '/variant'],
    ['17 entries of metadata', { metadata: entries(17, 1) }, '/metadata'],
    ['metadata of 1 KiB and a byte', { metadata: metadataOf(1025) }, '/metadata'],
    ['metadata of more bytes than characters', { metadata: { k: 'é'.repeat(509) } }, '/metadata'],
    ['metadata that is nested', { metadata: { a: { b: 1 } } }, '/metadata/a'],
    ['metadata with a list', { metadata: { a: [1] } }, '/metadata/a'],
    ['metadata with null', { metadata: { a: null } }, '/metadata/a'],
    ['metadata with an unsafe number', { metadata: { a: 2 ** 53 } }, '/metadata/a'],
    ['NUL in metadata', { metadata: { a: '\0' } }, '/metadata/a'],
    ['half a surrogate pair in metadata', { metadata: { a: '\udbff' } }, '/metadata/a'],
    ['__proto__ in metadata', { metadata: withProto }, '/metadata/__proto__'],
    ['constructor in metadata', { metadata: { constructor: 1 } }, '/metadata/constructor'],
    ['prototype in metadata', { metadata: { prototype: 1 } }, '/metadata/prototype'],
    ['several at once', { decision: 'x', source: 1, gpc: 'y' }, '/decision', '/source', '/gpc'],
  ])('%s: refused by name', async (_, fields, ...paths) => {
    expectBlame(await record({ decision: 'custom', ...fields }), ...paths);
  });

  it('a number that JSON can write and no number can hold is refused', async () => {
    expectBlame(
      await stack.client.record(stack.domainId, stack.apiKey, '{"decision":"custom","metadata":{"a":1e400}}'),
      '/metadata/a',
    );
  });
});
