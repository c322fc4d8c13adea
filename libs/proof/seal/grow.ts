/** How logs grow by new entries: their runs, the nodes above them, and their new heads. */

import type { Sql } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import { sha256 } from '#libs/base/sha256';
import { type Head, saveHeads } from '../heads.ts';
import { addTexts, type LogText } from '../log-texts.ts';
import { addNodes, addRuns, type LogName, type Node, type Run, takeRuns } from '../runs.ts';
import { append, packFrontier, unpackFrontier } from '../tree/frontier.ts';
import { tileWidth } from '../tree/tlog-tiles.ts';
import { type Added, lastRecordIn } from './added.ts';

interface Extension {
  /** locked */
  head: Head;
  added: Added;
}

/** Extends logs by new entries, at most one extension for a log, and stores what grew. */
export async function extend(sql: Sql, extensions: Extension[]): Promise<void> {
  if (extensions.length === 0) return;
  const folding = extensions.flatMap(({ head, added }) => {
    const first = foldsFrom(head, added);
    return first === undefined ? [] : [{ domainNumber: head.domainNumber, log: head.log, first }];
  });
  const tails = groupBy(folding.length > 0 ? await takeRuns(sql, folding) : [], ({ domainNumber }) => domainNumber);
  const grown = extensions.map(({ head, added }) => grow(head, tails.get(head.domainNumber) ?? [], added));
  await Promise.all([
    addRuns(
      sql,
      grown.flatMap(({ runs }) => runs),
    ),
    addNodes(
      sql,
      grown.flatMap(({ nodes }) => nodes),
    ),
    addTexts(
      sql,
      grown.flatMap(({ texts }) => texts),
    ),
    saveHeads(
      sql,
      grown.map(({ head }) => head),
    ),
  ]);
}

/**
 * Each tile is stored as two runs, of 248 and 8 entries. The ids, secrets and leaves of 248 entries together fill eight
 * TOAST chunks of 1,996 bytes, which is two pages. Those of 256 entries would take eleven chunks and leave a fifth of their
 * pages empty.
 */
const fullRun = 248;

/** The whole run around this position: its first position, and the first one after it. */
function wholeRunAt(position: number): { first: number; below: number } {
  const tile = position - (position % tileWidth);
  const cut = tile + fullRun;
  return position < cut ? { first: tile, below: cut } : { first: cut, below: tile + tileWidth };
}

/**
 * The first position of the log's last run, if that is incomplete and the new entries complete it. Its stored parts and the
 * new entries are then stored as one run.
 */
function foldsFrom({ size }: Head, { ids }: Added): number | undefined {
  const { first, below } = wholeRunAt(size);
  return first < size && size + ids.length / 16 >= below ? first : undefined;
}

interface Grown {
  head: Head;
  runs: Run[];
  nodes: Node[];
  texts: LogText[];
}

/** `tail`: the runs from `foldsFrom` on, none where that is undefined. */
function grow(head: Head, tail: Run[], added: Added): Grown {
  const name: LogName = { domainNumber: head.domainNumber, log: head.log };
  const count = added.ids.length / 16;
  const first = tail[0]?.first ?? head.size;
  const ids = Buffer.concat([...tail.map((run) => run.ids), added.ids]);
  const secrets = Buffer.concat([...tail.map((run) => run.secrets), added.secrets]);
  const leaves = Buffer.concat([...tail.map((run) => run.leaves), added.leaves]);

  const runs: Run[] = [];
  // `lastEpoch` and `lastId` are those of the last record in the run or, if it has none, before it
  let last = { lastEpoch: head.lastEpoch, lastId: head.lastId };
  const end = head.size + count;
  for (let from = first; from < end; ) {
    const to = Math.min(end, wholeRunAt(from).below);
    const of = (bytes: Buffer, width: number) => bytes.subarray((from - first) * width, (to - first) * width);
    const lastId = lastRecordIn(added, Math.max(0, from - head.size), to - head.size);
    if (lastId !== undefined) last = { lastEpoch: added.epoch, lastId };
    runs.push({
      ...name,
      first: from,
      entries: to - from,
      ...last,
      ids: of(ids, 16),
      secrets: of(secrets, 16),
      leaves: of(leaves, 32),
      sealed: from === first ? tail.map((run) => run.sealed).join('') : '',
    });
    from = to;
  }

  const frontier = unpackFrontier(head.size, head.frontier);
  const nodes: Node[] = [];
  for (let at = 0; at < count; at += 1) {
    append(sha256, frontier, added.leaves.subarray(at * 32, at * 32 + 32), (level, n, hash) => {
      nodes.push({ ...name, level, n, hash });
    });
  }
  return {
    head: { ...head, size: end, frontier: packFrontier(frontier), ...last },
    runs,
    nodes,
    texts: added.texts.map(({ at, ...text }) => ({ ...name, position: head.size + at, ...text })),
  };
}
