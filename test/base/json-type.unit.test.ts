import { expect, it } from 'vitest';
import { isStrict, requireJson } from '#libs/base/http/body';

const isTaken = (type: string | undefined): boolean => {
  try {
    requireJson(type);
    return true;
  } catch {
    return false;
  }
};

it('the content type of a record is JSON in UTF-8, however it is written', () => {
  const plain = ['application/json', 'Application/JSON', 'application/json;', 'application/vnd.api+json'];
  const charsets = ['utf-8', 'utf8', 'UTF8', '"UTF-8"', 'unicode-1-1-utf-8', 'us-ascii', '', 'utf-8; charset=UTF-8'];
  // of a header that was sent twice both arrive
  const twice = 'application/json;charset=utf-8, application/json;charset=utf-8';
  const other = ['application/json ; charset = "UTF-8" ; ', 'application/json; odata=verbose', twice];
  const good = [...plain, ...other, ...charsets.map((charset) => `application/ld+json;charset=${charset}`)];
  expect(good.filter((type) => !isTaken(type))).toEqual([]);
  const others = [undefined, '', 'text/plain', 'application/jsonx', 'application/+json'];
  const wrong = ['latin1', 'utf-16', 'utf-8; charset=latin1', 'x'].map((each) => `application/json; charset=${each}`);
  const lists = ['application/json, text/plain', 'text/plain; application/json'];
  expect([...others, ...wrong, ...lists].filter(isTaken)).toEqual([]);
});

it('where only the charset is wrong the refusal says so, not what was sent', () => {
  expect(() => requireJson('application/json; charset=utf-16')).toThrow('send the body in UTF-8');
});

// in a time that grows with the square of the length this would take minutes
it('neither very many spaces nor a quote that is never closed hold up the others', () => {
  for (const begin of ['application/json', 'application/json; charset=utf-8', 'application/json; charset='])
    expect(isTaken(`${begin}${' '.repeat(300_000)}x`)).toBe(false);
  expect(isStrict(`"${';'.repeat(700_000)}`)).toBe(false);
});
