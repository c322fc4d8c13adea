import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayOf } from '#libs/contract/calendar';
import { lowestIdAt, makeIdAt, timeOf, uuidv7Pattern } from '#libs/contract/uuid';
import { makeId } from '../support/ids.ts';

describe('an id', () => {
  it.each([
    '2023-12-31T23:59:59.999Z',
    '2024-01-01T00:00:00.000Z',
    '2024-02-29T23:59:59.999Z',
    '2024-03-01T00:00:00.000Z',
    '2000-01-01T00:00:00.000Z',
    '2100-12-31T23:59:59.999Z',
  ])('carries its time to the millisecond: %s', (time) => {
    const id = makeIdAt(Date.parse(time));
    expect(id).toMatch(uuidv7Pattern);
    expect(new Date(timeOf(id)).toISOString()).toBe(time);
    expect(dayOf(timeOf(id))).toBe(time.slice(0, 10));
  });

  it('carries any time, in upper case too', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 47), (time) => {
        expect(timeOf(makeIdAt(time))).toBe(time);
        expect(timeOf(makeIdAt(time).toUpperCase())).toBe(time);
      }),
    );
  });

  it('sorts by its time as text', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 45), fc.nat(2 ** 45), (one, other) => {
        if (one !== other) expect(makeIdAt(one) < makeIdAt(other)).toBe(one < other);
      }),
    );
  });

  it('is made once, also within one millisecond', () => {
    const ids = Array.from({ length: 20_000 }, () => makeIdAt(1_700_000_000_000));
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(Array.from({ length: 20_000 }, makeId)).size).toBe(20_000);
  });

  it('of a time lies within the bounds of that millisecond', () => {
    for (const time of [0, 1, 1_700_000_000_000, 2 ** 48 - 2]) {
      expect(lowestIdAt(time) <= makeIdAt(time) && makeIdAt(time) < lowestIdAt(time + 1)).toBe(true);
    }
    expect(lowestIdAt(-1)).toBe(lowestIdAt(0));
  });

  it('is a UUIDv7 or is refused', () => {
    const id = makeId();
    expect(id).toMatch(uuidv7Pattern);
    for (const broken of [
      '',
      id.slice(1),
      `${id}0`,
      `{${id}}`,
      ` ${id}`,
      `${id}\n`,
      id.replaceAll('-', ''),
      // version 4, another variant
      '018df229-3f70-4131-b028-ead1f76cec52',
      '018df229-3f70-7131-c028-ead1f76cec52',
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ])
      expect(broken).not.toMatch(uuidv7Pattern);
  });
});
