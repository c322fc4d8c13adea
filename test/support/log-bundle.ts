/** The bundle of the test vector's record, and the same with a time-stamp as a log of two domains would have it. */
import { base64, concat, fromHex, hex, utf8 } from '#libs/proof/tree/bytes';
import { leafHash, nodeHash } from '#libs/proof/tree/hash';
import { parseNote } from '#libs/proof/tree/note';
import { sha256, vector } from './log-vector.ts';

const hashes = (...leaves: (string | undefined)[]) =>
  leaves.map((leaf) => base64(fromHex(leaf ?? '') ?? new Uint8Array()));

const { circumstances, private: personal } = vector;
const opening = ({ salt, text }: { salt: string; text: string }) => ({ salt, text });

export const bundle = {
  record: { ...vector.record, variant: null, log: 1, position: 1, erasedAt: null },
  entry: vector.entries[1],
  opening: { circumstances: opening(circumstances), private: opening(personal) },
  log: 1,
  position: 1,
  proof: hashes(vector.leaves[0], vector.leaves[2]),
  checkpoint: vector.checkpoint,
  verifierKeys: [vector.verifierKey],
  notice: null,
  timestamp: null,
};

const body = parseNote(vector.checkpoint).text;
const sibling = leafHash(sha256, utf8('consent.example.com/dom_zz\n0\n'));
const root = nodeHash(sha256, leafHash(sha256, utf8(body)), sibling);

/** Not a token that openssl would take: the bytes around the hash are made up. */
const token = concat(utf8('a token over '), Uint8Array.of(4, 32), root, utf8(' signed by nobody'));

export const timestamp = {
  checkpoint: vector.checkpoint,
  index: 0,
  size: 2,
  path: [base64(sibling)],
  token: base64(token),
};

export const timestampDigest = hex(root);
