import { describe, expect, it } from 'vitest';
import { fromHex, hex, utf8 } from '#libs/proof/tree/bytes';
import { formatCheckpoint, parseCheckpoint } from '#libs/proof/tree/checkpoint';
import {
  circumstancesText,
  commitment,
  erasureEntry,
  noticeEntry,
  privateText,
  recordEntry,
  saltOf,
} from '#libs/proof/tree/entry';
import { append, emptyFrontier, rootOf } from '#libs/proof/tree/frontier';
import { leafHash } from '#libs/proof/tree/hash';
import { inclusionProof } from '#libs/proof/tree/make-proofs';
import { formatNote } from '#libs/proof/tree/note';
import { formatTlogProof, parseTlogProof } from '#libs/proof/tree/tlog-proof';
import { formatVerifierKey, verifierKey } from '#libs/proof/tree/verifier-key';
import { logKey, sha256, vector } from '../support/log-vector.ts';

const bytes = (digits: string) => fromHex(digits) ?? expect.fail(`not hex: ${digits}`);
const secret = bytes(vector.secret);
const key = logKey(vector.logKey, vector.origin);

describe('the test vector', () => {
  it.each([
    ['circumstances', circumstancesText(vector.record), vector.circumstances],
    ['private', privateText(vector.record), vector.private],
  ] as const)('has its opening of %s', (label, text, expected) => {
    const salt = saltOf(sha256, label, secret);
    expect(text).toBe(expected.text);
    expect(hex(salt)).toBe(expected.salt);
    expect(commitment(sha256, salt, text)).toBe(expected.commitment);
  });

  it('has its entries and leaves', () => {
    const commitments = { circumstances: vector.circumstances.commitment, private: vector.private.commitment };
    const entries = [noticeEntry(vector.notice), recordEntry(vector.record, commitments), erasureEntry(vector.erasure)];
    expect(entries).toEqual(vector.entries);
    expect(entries.map((entry) => hex(leafHash(sha256, utf8(entry))))).toEqual(vector.leaves);
  });

  it('has its root, key, checkpoint and proof file', () => {
    const frontier = emptyFrontier();
    for (const leaf of vector.leaves) append(sha256, frontier, bytes(leaf));
    expect([hex(rootOf(sha256, frontier)), hex(key.seed)]).toEqual([vector.root, vector.seed]);
    const made = verifierKey(sha256, vector.origin, key.publicKey);
    expect(formatVerifierKey(made)).toBe(vector.verifierKey);
    const text = formatCheckpoint(vector.origin, 3, bytes(vector.root));
    expect(formatNote(text, [{ name: made.name, keyId: made.id, signature: key.sign(text) }])).toBe(vector.checkpoint);
    expect(parseCheckpoint(text)).toEqual({ origin: vector.origin, size: 3, root: bytes(vector.root) });
    const proof = inclusionProof(sha256, 1, 3, () => bytes(vector.leaves.join('')));
    const parts = { entry: utf8(vector.entries[1] ?? ''), index: 1, proof, checkpoint: vector.checkpoint };
    expect(formatTlogProof(parts)).toBe(vector.proof);
    expect(parseTlogProof(vector.proof)).toEqual(parts);
  });
});
