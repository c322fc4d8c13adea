import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '#libs/contract/problem';
import { orgStatsQuery, recordsQuery } from '#libs/contract/queries';
import { makeIdAt } from '#libs/contract/uuid';
import { makeCursor, readCursor } from '../../apps/api/http/cursor.ts';
import { makeId } from '../support/ids.ts';

const binding = { cursorKey: randomBytes(32), domainId: 'dom_a' };
const position = { after: { id: makeId(), domainId: 'dom_a' }, page: 2 };
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const expectRefused = (cursor: string, of = binding) => {
  try {
    readCursor(cursor, of);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect(error.status).toBe(400);
    expect(error.code).toBe('invalid_request');
    expect(error.extras.errors?.map(({ path }) => path)).toEqual(['/cursor']);
    return;
  }
  throw new Error(`it was read: ${cursor}`);
};

describe('a cursor', () => {
  it('is read as it was made, for any position, and fits into an address', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 45), fc.integer({ min: 1, max: 2 ** 32 - 1 }), (time, page) => {
        const made = { after: { id: makeIdAt(time), domainId: 'd'.repeat(64) }, page };
        const cursor = makeCursor(made, binding);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]{1,256}$/);
        expect(readCursor(cursor, binding)).toEqual(made);
      }),
    );
  });

  it('keeps to the rule of the query that takes it, also with the longest id of a domain and the last page', () => {
    const made = { after: { id: makeId(), domainId: 'd'.repeat(64) }, page: 1_000_000_000 };
    const cursor = makeCursor(made, binding);
    for (const query of [recordsQuery, orgStatsQuery]) expect(query.safeParse({ cursor }).error).toBeUndefined();
  });

  it('with any character changed is refused', () => {
    const cursor = makeCursor(position, binding);
    for (let at = 0; at < cursor.length; at += 1) {
      for (const character of [...alphabet, '=', ' ', '+', '/', 'ä', '\0']) {
        if (character !== cursor[at]) expectRefused(cursor.slice(0, at) + character + cursor.slice(at + 1));
      }
    }
  });

  it('that is cut, padded, doubled or empty is refused', () => {
    const cursor = makeCursor(position, binding);
    for (let length = 0; length < cursor.length; length += 1) expectRefused(cursor.slice(0, length));
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

  it('does not show what it was made with in a way that another key would accept', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 36, maxLength: 36 }), (bytes) => {
        expectRefused(Buffer.from(bytes).toString('base64url'));
      }),
    );
  });
});
