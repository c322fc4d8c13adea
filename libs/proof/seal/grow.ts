/** How a log grows by some entries: its runs, the nodes above them, and its new head. */

import { sha256 } from '#libs/base/sha256';
import type { Head } from '../heads.ts';
import type { LogText } from '../log-texts.ts';
import type { LogName, Node, Run } from '../runs.ts';
import { append, packFrontier, unpackFrontier } from '../tree/frontier.ts';
import { type Added, lastRecordIn } from './added.ts';

const tileWidth = 256;

/** From where on the log's last runs are folded into a whole tile together with the new entries, if they are. */
export function foldsFrom({ size }: Head, { ids }: Added): number | undefined {
  const inTile = size % tileWidth;
  return inTile > 0 && inTile + ids.length / 16 >= tileWidth ? size - inTile : undefined;
}

export interface Grown {
  head: Head;
  runs: Run[];
  nodes: Node[];
  texts: LogText[];
}

/** `tail`: the runs from `foldsFrom` on, none where that is undefined. */
export function grow(head: Head, tail: Run[], added: Added): Grown {
  const name: LogName = { domainNumber: head.domainNumber, log: head.log };
  const count = added.ids.length / 16;
  const first = tail[0]?.first ?? head.size;
  const ids = Buffer.concat([...tail.map((run) => run.ids), added.ids]);
  const secrets = Buffer.concat([...tail.map((run) => run.secrets), added.secrets]);
  const leaves = Buffer.concat([...tail.map((run) => run.leaves), added.leaves]);

  const runs: Run[] = [];
  // a run ends with the last record that stands in it or before it
  let last = { lastEpoch: head.lastEpoch, lastId: head.lastId };
  const end = head.size + count;
  for (let from = first; from < end; ) {
    const to = Math.min(end, from - (from % tileWidth) + tileWidth);
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
