/** Extends logs by new entries: reads the runs that are folded with them, grows the logs, and stores what grew. */

import type { Sql } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import { type Head, saveHeads } from '../heads.ts';
import { addTexts } from '../log-texts.ts';
import { addNodes, addRuns, takeRuns } from '../runs.ts';
import type { Added } from './added.ts';
import { foldsFrom, grow } from './grow.ts';

export interface Extension {
  /** locked */
  head: Head;
  added: Added;
}

/** One extension for a log. */
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
