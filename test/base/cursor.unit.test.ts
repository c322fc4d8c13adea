import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Binding,
  makeCursor,
  makeNumberCursor,
  readCursor,
  readMergedCursor,
  readNumberCursor,
} from '#libs/base/http/cursor';
import { makeIdAt } from '#libs/base/terms/calendar';
import { Problem } from '#libs/base/terms/problem';
import { orgStatsQuery, recordsQuery } from '#libs/log/contract';
import { makeId } from '../support/ids.ts';

const binding = { cursorKey: randomBytes(32), domainId: 'dom_a' };
const position = { after: { id: makeId(), domainId: 'dom_a' }, page: 2 };
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const expectRefused = (cursor: string, of: Binding = binding) => {
  let error: unknown;
  try {
    readCursor(cursor, of);
  } catch (thrown) {
    error = thrown;
  }
  if (!(error instanceof Problem)) throw error ?? new Error(`it was read: ${cursor}`);
  expect([error.code, error.extras.errors?.map(({ path }) => path)]).toEqual(['invalid_request', ['/cursor']]);
};

describe('a cursor', () => {
  it('is read as it was made, for any position, and keeps to the rule of the queries that take it', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 45), fc.integer({ min: 1, max: 1_000_000_000 }), (time, page) => {
        const made = { after: { id: makeIdAt(time), domainId: 'd'.repeat(64) }, page };
        const cursor = makeCursor(made, binding);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]{1,256}$/);
        expect(readCursor(cursor, binding)).toEqual(made);
        for (const query of [recordsQuery, orgStatsQuery]) expect(query.safeParse({ cursor }).error).toBeUndefined();
      }),
    );
  });

  it('with any character changed, or cut, padded, doubled or empty, is refused', () => {
    const cursor = makeCursor(position, binding);
    for (const [at, old] of [...cursor].entries()) {
      // the last one has bits that belong to no byte
      const others = at < cursor.length - 1 ? 'Az9-_' : alphabet;
      for (const other of [...others, '=', ' ', '+', '/', 'ä', '\0'].filter((character) => character !== old))
        expectRefused(cursor.slice(0, at) + other + cursor.slice(at + 1));
      expectRefused(cursor.slice(0, at));
    }
    for (const broken of [`${cursor}=`, `${cursor}A`, ` ${cursor}`, `${cursor}\n`, cursor + cursor])
      expectRefused(broken);
  });

  it('holds for its domain and its organization alone', () => {
    const cursor = makeCursor(position, binding);
    expectRefused(cursor, { ...binding, domainId: 'dom_b' });
    expectRefused(cursor, { ...binding, domainId: '' });
    expectRefused(cursor, { ...binding, cursorKey: randomBytes(32) });
    expectRefused(makeCursor(position, { ...binding, domainId: '' }));
  });

  it('is only valid for its own filters, in any order', () => {
    const filtered = { ...binding, filters: { decision: 'custom', bot: false, visitorId: undefined } };
    const cursor = makeCursor(position, filtered);
    expect(readCursor(cursor, { ...binding, filters: { bot: false, decision: 'custom' } })).toEqual(position);
    for (const filters of [
      {},
      { decision: 'custom' },
      { decision: 'custom', bot: true },
      { bot: false },
    ] satisfies Binding['filters'][]) {
      expectRefused(cursor, { ...binding, filters });
      expectRefused(makeCursor(position, { ...binding, filters }), filtered);
    }
    expectRefused(cursor);
    expectRefused(makeCursor(position, binding), filtered);
  });

  it('of a list goes on in that list alone', () => {
    const cursor = makeNumberCursor('import', 7, binding);
    expect(readNumberCursor('import', cursor, binding)).toBe(7);
    expect(() => readNumberCursor('erasure', cursor, binding)).toThrow('/cursor');
    expect(() => readMergedCursor(cursor, binding)).toThrow('/cursor');
    expectRefused(cursor);
  });

  it('whose end is taken for the id of its domain, or the other way round, is refused', () => {
    const bytes = Buffer.from(makeCursor(position, binding), 'base64url');
    const { cursorKey } = binding;
    expectRefused(Buffer.concat([bytes, Buffer.from('dom_a')]).toString('base64url'), { cursorKey, domainId: '' });
    expectRefused(Buffer.concat([bytes, Buffer.from('dom_')]).toString('base64url'), { cursorKey, domainId: 'a' });
    expectRefused(bytes.subarray(0, -1).toString('base64url'), { cursorKey, domainId: ']dom_a' });
    const before = Buffer.concat([bytes.subarray(0, 16), Buffer.from('dom_a\0'), bytes.subarray(16)]);
    expectRefused(before.toString('base64url'), { cursorKey, domainId: '' });
  });

  it('genuinely signed, but no position, is refused', () => {
    for (const payload of ['', '{', 'null', '[]', '["x","dom_a",1]']) {
      const content = Buffer.from(payload);
      const hmac = createHmac('sha256', binding.cursorKey).update(`${binding.domainId}\0`).update(content).digest();
      expectRefused(Buffer.concat([hmac.subarray(0, 16), content]).toString('base64url'));
    }
  });
});
