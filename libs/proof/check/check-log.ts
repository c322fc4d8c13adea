/** Checks one log: recomputed entries, tree and checkpoint. Reads it in pieces, while it continues to grow. */
import { setImmediate as yieldNow } from 'node:timers/promises';
import type { Database } from '#libs/base/db/database';
import { sha256 } from '#libs/base/sha256';
import { textId } from '../log-texts.ts';
import type { LogName } from '../runs.ts';
import { sealedEntryOf, textLeafHash } from '../tree/entry.ts';
import { tileWidth } from '../tree/tlog-tiles.ts';
import type { Witnessed } from '../witness.ts';
import { compareCheckpoint, compareWitness } from './compare-checkpoint.ts';
import { type Expiry, readExpiry } from './expiry.ts';
import { createTree, type Leaves, type Tree } from './rebuilt-tree.ts';
import { readPiece, readUpperNodes, type StoredLog, type StoredPiece, type StoredRun } from './stored.ts';

/** entries per piece */
const pieceSize = 16 * tileWidth;
const noId = '0'.repeat(32);

interface LogParts {
  db: Database;
  domainNumber: number;
  stored: StoredLog;
  /** undefined if Redis knows another log of the domain, or none */
  witnessed: Witnessed | undefined;
  expiry: Expiry;
  /** `position`: null for the whole log */
  differs(position: number | null, what: string): void;
  /** number of further entries */
  progress(entries: number): void;
}

/** Returns the number of entries with a stored record whose id is `expiry.since` or later. */
export async function checkLog(parts: LogParts): Promise<number> {
  const { db, domainNumber, stored, witnessed, differs, progress } = parts;
  const name: LogName = { domainNumber, log: stored.log };
  const tree = createTree({
    upperNodes: await db.read((sql) => readUpperNodes(sql, name)),
    frontier: stored.frontier,
    sizes: [stored.checkpointSize, ...(witnessed ? [witnessed.size] : [])],
    differs,
  });
  let present = 0;
  for await (const { from, below, piece } of piecesOf(db, name, stored.size)) {
    present += await checkPiece({ ...parts, tree }, piece, { from, below });
    progress(below - from);
  }
  tree.end();
  compareCheckpoint(stored, (size) => tree.rootAt(size), differs);
  if (witnessed) compareWitness(stored, witnessed, (size) => tree.rootAt(size), differs);
  return present;
}

interface Range {
  from: number;
  below: number;
}

/** pieces read ahead while one is checked, each on a connection of its own */
const readAhead = 2;

async function* piecesOf(db: Database, name: LogName, size: number): AsyncGenerator<Range & { piece: StoredPiece }> {
  const reading: Promise<StoredPiece>[] = [];
  const read = (from: number) => {
    if (from >= size) return;
    const piece = readPiece(db, name, { from, below: from + pieceSize });
    // a reader that stops early does not wait for it
    piece.catch(() => {});
    reading.push(piece);
  };
  for (let ahead = 0; ahead < readAhead; ahead += 1) read(ahead * pieceSize);
  for (let from = 0; from < size; from += pieceSize) {
    const piece = await reading.shift();
    if (!piece) return;
    read(from + readAhead * pieceSize);
    yield { from, below: Math.min(size, from + pieceSize), piece };
  }
}

/** An entry that differs from what was sealed. */
interface Doubt {
  position: number;
  id: string;
  /** its record, or its text, is not stored */
  isGone: boolean;
}

async function checkPiece(parts: LogParts & { tree: Tree }, piece: StoredPiece, range: Range): Promise<number> {
  const { db, tree, differs } = parts;
  let { expiry } = parts;
  const entries = entriesIn(piece, range, differs);
  let present = 0;
  for (let first = range.from; first < range.below; first += tileWidth) {
    // yield between tiles, so that reading ahead makes progress
    await yieldNow();
    const leaves: Leaves = { stored: [], recomputed: [] };
    const doubts: Doubt[] = [];
    const width = Math.min(tileWidth, range.below - first);
    for (let position = first; position < first + width; position += 1) {
      const entry = entries.get(position);
      if (!entry) continue;
      const record = piece.records.get(position);
      const text = record
        ? sealedEntryOf(sha256, record, { ...entry, erased: piece.erased.get(position) ?? null })
        : piece.texts.get(position);
      const leaf = text === undefined ? entry.leaf : textLeafHash(sha256, text);
      if (record && record.id >= expiry.since) present += 1;
      leaves.stored.push(entry.leaf);
      leaves.recomputed.push(Buffer.from(leaf));
      if (text === undefined || !entry.leaf.equals(leaf)) {
        doubts.push({ position, id: entry.id, isGone: text === undefined });
      }
    }
    const agreed = tree.add(leaves.stored.length === width ? leaves : null, piece.nodes);
    // retention may have dropped a month in the meantime
    if (doubts.some(({ isGone, id }) => isGone && !isExpired(expiry, id))) expiry = await readExpiry(db);
    for (const doubt of doubts) {
      const what = sentence(doubt, expiry, agreed === 'recomputed');
      if (what) differs(doubt.position, what);
    }
  }
  return present;
}

function isExpired(expiry: Expiry, id: string): boolean {
  if (id === textId) return false;
  return id === noId ? expiry.isAny : expiry.isExpired(dashed(id));
}

function sentence({ id, isGone }: Doubt, expiry: Expiry, isLeafChanged: boolean): string | undefined {
  if (isGone && isExpired(expiry, id)) return undefined;
  if (id === noId) return 'the entry says that its record has expired, but retention has dropped no month';
  const isText = id === textId;
  const entry = isText ? 'a notice or an erasure' : `record ${dashed(id)}`;
  if (isGone) return `${entry} is not stored any more`;
  if (isLeafChanged) return `the stored hash of ${entry} was changed`;
  return `${entry} as stored${isText ? '' : ', or its secret,'} is not what was sealed`;
}

const dashed = (id: string): string =>
  `${id.slice(0, 8)}-${id.slice(8, 12)}-${id.slice(12, 16)}-${id.slice(16, 20)}-${id.slice(20)}`;

interface Entry {
  /** 32 hex digits; zeros once expired */
  id: string;
  secret: Buffer;
  leaf: Buffer;
}

/** The entries of a piece by position. Reports gaps and invalid runs. */
function entriesIn({ runs }: StoredPiece, { from, below }: Range, differs: LogParts['differs']): Map<number, Entry> {
  const entries = new Map<number, Entry>();
  const missing = (first: number, end: number) =>
    differs(first, end - first === 1 ? 'the entry is missing' : `the entries ${first} to ${end - 1} are missing`);
  let next = from;
  for (const run of runs) {
    if (run.first >= below) break;
    if (run.first > next) missing(next, run.first);
    if (run.first < next) differs(run.first, 'two runs of entries overlap here');
    if (!isWellFormed(run)) differs(run.first, `the run of ${run.entries} entries that begins here is malformed`);
    const end = Math.min(below, run.first + run.entries);
    for (let position = Math.max(next, run.first); position < end; position += 1) {
      const entry = entryAt(run, position - run.first);
      if (entry) entries.set(position, entry);
    }
    next = Math.max(next, end);
  }
  if (next < below) missing(next, below);
  return entries;
}

const isWellFormed = ({ first, entries, ids, secrets, leaves }: StoredRun): boolean =>
  entries > 0 &&
  (first % tileWidth) + entries <= tileWidth &&
  leaves.length === entries * 32 &&
  (ids === null || ids.length === entries * 16) &&
  (secrets === null || secrets.length === entries * 16);

const zeros = Buffer.alloc(16);

function entryAt({ ids, secrets, leaves }: StoredRun, at: number): Entry | undefined {
  const leaf = leaves.subarray(at * 32, at * 32 + 32);
  const secret = secrets?.subarray(at * 16, at * 16 + 16) ?? zeros;
  const id = ids?.toString('hex', at * 16, at * 16 + 16) ?? noId;
  return leaf.length === 32 && secret.length === 16 && id.length === 32 ? { id, secret, leaf } : undefined;
}
