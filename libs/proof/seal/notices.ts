/** Notices enter a domain's log before the first record that names them. */
import { LRUCache } from 'lru-cache';
import type { Database, Sql } from '#libs/base/db/database';
import { cachePerServer } from '#libs/base/db/per-server-cache';
import type { SeenNotice } from '#libs/notices/documents';
import type { Head } from '../heads.ts';
import { listNoticesIn, type NoticeInLog } from '../log-texts.ts';
import { noticeEntry } from '../tree/entry.ts';
import type { AddedText } from './added.ts';

/** A log, and the notices that its new records name. */
interface Naming {
  head: Head;
  noticeNumbers: Set<number>;
}

/** Notices of logs that are known to be there. */
const remembered = 50_000;

/** Returns the notices that have to enter each log now, by its domain. */
type LackingNotices = (sql: Sql, namings: Naming[]) => Promise<Map<number, number[]>>;

export function createLackingNotices({ generation }: Pick<Database, 'generation'>): LackingNotices {
  const known = cachePerServer(generation, () => new LRUCache<string, true>({ max: remembered }));
  return async (sql, namings) => {
    const there = known();
    const unknown = namings
      .flatMap(({ head: { domainNumber, log }, noticeNumbers }) =>
        [...noticeNumbers].map((noticeNumber) => ({ domainNumber, log, noticeNumber })),
      )
      .filter((each) => !there.has(keyOf(each)));
    const lacking = new Map<number, number[]>();
    if (unknown.length === 0) return lacking;
    // only what others have committed is remembered: what is added now may be rolled back
    for (const found of await listNoticesIn(sql, unknown)) there.set(keyOf(found), true);
    for (const each of unknown) {
      if (there.has(keyOf(each))) continue;
      lacking.set(each.domainNumber, [...(lacking.get(each.domainNumber) ?? []), each.noticeNumber]);
    }
    return lacking;
  };
}

const keyOf = ({ domainNumber, log, noticeNumber }: NoticeInLog): string => `${domainNumber} ${log} ${noticeNumber}`;

/** The entries of these notices in a log, in the order of their numbers. */
export const noticeTexts = (
  { domainId }: Head,
  numbers: number[],
  notices: ReadonlyMap<number, SeenNotice>,
): Omit<AddedText, 'at'>[] =>
  numbers
    .toSorted((one, other) => one - other)
    .flatMap((noticeNumber) => {
      const seen = notices.get(noticeNumber);
      return seen ? [{ noticeNumber, text: noticeEntry({ domainId, ...seen }) }] : [];
    });
