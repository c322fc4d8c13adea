/** That a log only grew between two checkpoints; proofs themselves are tried in tree.unit.test.ts. */
import { expect, it } from 'vitest';
import { base64, utf8 } from '#libs/proof/tree/bytes';
import { openTwo, requireContinuation } from '#libs/proof/tree/check-consistency';
import { leafHash } from '#libs/proof/tree/hash';
import { ProofError } from '#libs/proof/tree/proof-error';
import { sha256, signedLog, vector, verifyEd25519 } from '../support/log-vector.ts';

const crypto = { sha256, verifyEd25519 };

const [one, two, altered] = [signedLog(['a']), signedLog(['a', 'b']), signedLog(['x', 'b'])];
const elsewhere = signedLog(['a', 'b'], `${vector.origin}x`);
const proof = { from: 1, to: 2, proof: [base64(leafHash(sha256, utf8('b')))] };
const check = (older: typeof one, newer: typeof one, response?: object) => {
  try {
    const opened = openTwo(older.checkpoint, newer.checkpoint, [one.key, elsewhere.key], crypto);
    requireContinuation(opened, response && { ...response }, crypto);
    return 'holds';
  } catch (error) {
    if (error instanceof ProofError) return error.message;
    throw error;
  }
};

it('holds for a log that grew, and for the same checkpoint twice', () => {
  expect(check(one, two, proof)).toBe('holds');
  expect(check(two, two)).toBe('holds');
});

it.each<[string, string, string]>([
  ['an altered log', check(one, altered, proof), 'is not proven to begin with that of 1'],
  ['two of one size that differ', check(two, altered), 'the log was altered'],
  ['swapped ones', check(two, one, proof), 'name the older one first'],
  ['another log', check(one, elsewhere, proof), 'checkpoints of two logs'],
  ['a hash changed', check(one, two, { proof: [base64(leafHash(sha256, utf8('c')))] }), 'is not proven to begin'],
  ['a hash that is none', check(one, two, { proof: ['x'] }), 'not a SHA-256'],
  ['no proof', check(one, two, {}), '`proof` is missing'],
  ['a proof of other sizes', check(one, two, { ...proof, to: 3 }), 'of other sizes'],
  [
    'a signature changed',
    check(one, { ...two, checkpoint: two.checkpoint.replace('\n2\n', '\n3\n') }, proof),
    'The newer one: ',
  ],
])('does not hold for %s', (_, said, why) => expect(said).toContain(why));
