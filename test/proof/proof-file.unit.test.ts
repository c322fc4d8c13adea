import { describe, expect, it } from 'vitest';
import { utf8 } from '#libs/proof/tree/bytes';
import { formatNote, parseNote } from '#libs/proof/tree/note';
import { parseVerifierKey, verifierKey } from '#libs/proof/tree/verifier-key';
import { logKey, sha256, vector, verifyEd25519 } from '../support/log-vector.ts';
import { verifyTlogProof } from '../support/proof-checks.ts';

const key = parseVerifierKey(sha256, vector.verifierKey);
const check = (file: Uint8Array | string, keys = [key]) => verifyTlogProof(file, keys, { sha256, verifyEd25519 });
const whole = utf8(vector.proof);

describe('a proof file', () => {
  it('does not hold with any single bit changed', () => {
    const wrong: unknown[] = [];
    // of most bytes one bit; of the last ones of a line, which in base64 may mean nothing, every bit
    const isLast = (at: number) => /[=\n]/.test(String.fromCharCode(whole[at] ?? 0, whole[at + 1] ?? 0));
    for (let bit = 0; bit < whole.length * 8; bit++) {
      if (bit % 8 !== (bit >> 3) % 8 && !isLast(bit >> 3)) continue;
      const result = check(whole.with(bit >> 3, (whole[bit >> 3] ?? 0) ^ (1 << (bit & 7))));
      if (result.holds || !/^[A-Z].{20,}/.test(result.why)) wrong.push([bit, result]);
    }
    expect(wrong).toEqual([]);
  });

  it('holds with a signature that nobody knows, as C2SP asks, and then that line may be any', () => {
    for (const id of ['AAAA', 'BBBB']) {
      expect(check(`${vector.proof}— witness.example ${id}${'A'.repeat(88)}\n`).holds).toBe(true);
    }
  });

  it.each([
    ['nothing', '', 'This is no proof file'],
    ['the first line only', 'c2sp.org/tlog-proof@v1\n', 'cut off before its checkpoint'],
    ['no entry', vector.proof.replace(/extra .*\n/, ''), 'does not hold the entry'],
    ['no position', vector.proof.replace('index 1\n', ''), "not the entry's position"],
    ['another position', vector.proof.replace('index 1', 'index 0'), 'does not have this entry at position 0'],
    ['a position beyond the end', vector.proof.replace('index 1', 'index 3'), "is beyond the log's size, 3"],
    ['a hash less', vector.proof.replace(/AozczD.*\n/, ''), 'does not have this entry'],
    ['a hash cut short', vector.proof.replace('vlL0HdHE', ''), 'not a SHA-256'],
    ['another size', vector.proof.replace('dom_test\n3\n', 'dom_test\n4\n'), 'the text was changed'],
  ])('with %s says what is wrong with it', (_, changed, why) => {
    expect(changed).not.toBe(vector.proof);
    expect(check(changed)).toEqual({ holds: false, why: expect.stringContaining(why) });
  });

  it('does not hold with the key of another log, or with none', () => {
    const other = verifierKey(sha256, 'consent.example.com/dom_other', logKey(vector.logKey, 'x').publicKey);
    expect(check(whole, [other])).toEqual({
      holds: false,
      why: 'The checkpoint does not hold. It is signed by consent.example.com/dom_test, and the key given is that of consent.example.com/dom_other.',
    });
    expect(check(whole, [])).toMatchObject({ holds: false });
    expect(check(whole, [other, key])).toMatchObject({ holds: true, signedBy: [vector.verifierKey] });
  });

  it("does not hold where another log's key, though given, signed this log's checkpoint", () => {
    const name = 'consent.example.com/dom_other';
    const { sign, publicKey } = logKey(vector.logKey, name);
    const other = verifierKey(sha256, name, publicKey);
    const { text } = parseNote(vector.checkpoint);
    const forged = formatNote(text, [{ name, keyId: other.id, signature: sign(text) }]);
    expect(check(vector.proof.replace(vector.checkpoint, forged), [other, key])).toEqual({
      holds: false,
      why: 'The checkpoint is one of consent.example.com/dom_test, but no key of that log has signed it.',
    });
  });
});
