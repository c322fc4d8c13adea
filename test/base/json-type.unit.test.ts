import { expect, it } from 'vitest';
import { isJsonType } from '#libs/base/http/json-body';

it('the content type of a record is JSON in UTF-8, however it is written', () => {
  const plain = ['application/json', 'Application/JSON', 'application/json;', 'application/vnd.api+json'];
  const withCharset = ['application/json; charset=utf-8', 'application/json ; charset = "UTF-8" ; '];
  const good = [...plain, ...withCharset, 'application/ld+json;charset=utf-8'];
  expect(good.filter((type) => !isJsonType(type))).toEqual([]);
  const others = [undefined, '', 'text/plain', 'application/jsonx', 'application/+json'];
  const charsets = ['application/json; charset=latin1', 'application/json; charset=utf-8; charset=utf-8'];
  const lists = ['application/json, application/json', 'text/plain; application/json'];
  expect([...others, ...charsets, ...lists].filter(isJsonType)).toEqual([]);
});

// in a time that grows with the square of the length this would take minutes
it('with very many spaces a content type is refused as any other', () => {
  for (const begin of [
    'application/json',
    'application/json;',
    'application/json; charset=utf-8',
    'application/json; charset',
  ])
    for (const end of ['x', ';x']) expect(isJsonType(begin + ' '.repeat(300_000) + end)).toBe(false);
});
