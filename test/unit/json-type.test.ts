import { describe, expect, it } from 'vitest';
import { isJsonType } from '../../apps/api/http/json-body.ts';

describe('the content type of a record', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json;',
    'application/json; charset=utf-8',
    'application/json ; charset = "UTF-8" ; ',
    'application/vnd.api+json',
    'application/ld+json;charset=utf-8',
  ])('may be %s', (type) => {
    expect(isJsonType(type)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'text/plain',
    'application/jsonx',
    'application/json; charset=latin1',
    'application/json; charset=utf-8; charset=utf-8',
    'application/json, application/json',
    'text/plain; application/json',
    'application/+json',
  ])('may not be %s', (type) => {
    expect(isJsonType(type)).toBe(false);
  });

  // a time that grows with the square of the length would be minutes
  it.each([
    ['application/json', 'x'],
    ['application/json;', 'x'],
    ['application/json; charset=utf-8', 'x'],
    ['application/json; charset=utf-8', ';x'],
    ['application/json; charset', 'x'],
  ])('with many spaces between %s and %s is soon refused', (before, after) => {
    const start = process.cpuUsage();
    expect(isJsonType(before + ' '.repeat(100_000) + after)).toBe(false);
    const { user } = process.cpuUsage(start);
    expect(user).toBeLessThan(2_000_000);
  });
});
