import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lowestIdAt, makeIdAt, timeOf, uuidv7Pattern } from '#libs/base/terms/calendar';
import { makeId } from '../support/ids.ts';

describe('an id', () => {
  it('carries its time to the millisecond, in upper case too, and sorts by it as text', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 47), fc.nat(2 ** 47), (one, other) => {
        const [id, next] = [makeIdAt(one), makeIdAt(other)];
        expect(id).toMatch(uuidv7Pattern);
        expect([timeOf(id), timeOf(id.toUpperCase())]).toEqual([one, one]);
        if (one !== other) expect(id < next).toBe(one < other);
        expect(lowestIdAt(one) <= id && id < lowestIdAt(one + 1)).toBe(true);
      }),
    );
    expect(lowestIdAt(-1)).toBe(lowestIdAt(0));
    // RFC 9562, A.6
    expect(timeOf('017F22E2-79B0-7CC3-98C4-DC0C0C07398F')).toBe(Date.parse('2022-02-22T19:22:22.000Z'));
  });

  it('is made once, also within one millisecond', () => {
    const ids = Array.from({ length: 20_000 }, () => makeIdAt(1_700_000_000_000));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is a UUIDv7 or is refused', () => {
    const id = makeId();
    const shapes = ['', id.slice(1), `${id}0`, `{${id}}`, ` ${id}`, `${id}\n`, id.replaceAll('-', '')];
    // version 4, another variant
    const kinds = ['018df229-3f70-4131-b028-ead1f76cec52', '018df229-3f70-7131-c028-ead1f76cec52'];
    const edges = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
    expect([...shapes, ...kinds, ...edges].filter((text) => uuidv7Pattern.test(text))).toEqual([]);
  });
});
