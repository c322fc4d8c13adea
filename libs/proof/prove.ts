/**
 * Proves that a record is in its domain's log, as a C2SP tlog-proof or as a bundle with everything the entry commits to.
 */

import type { Sql } from '#libs/base/db/database';
import { sha256 } from '#libs/base/sha256';
import { monthOf, timeOf } from '#libs/base/terms/calendar';
import { Problem } from '#libs/base/terms/problem';
import { findNotice } from '#libs/notices/documents';
import type { FullRecord } from '#libs/record/contract';
import { isDropped } from '#libs/record/month-partitions';
import type { ProofBundle } from './contract.ts';
import { requireRecord, type WantedRecord } from './positions.ts';
import { proveInclusion } from './prove/inclusion.ts';
import { type PublishedLog, requireLog } from './published.ts';
import { entryTextOf, type Reported, reportDifference } from './sealed-text.ts';
import { findTimestamp, type Timestamp } from './timestamps/stamped-checkpoints.ts';
import { base64, hex, utf8 } from './tree/bytes.ts';
import { circumstancesText, commitment, type Opening, privateText, saltOf, sealedAs } from './tree/entry.ts';
import { formatTlogProof } from './tree/tlog-proof.ts';

/** A record with the parts of its proof or bundle. */
export interface Proven {
  published: PublishedLog;
  /** the checkpoint that the proof refers to */
  checkpoint: string;
  timestamp: Timestamp | null;
  record: FullRecord;
  position: number;
  secret: Uint8Array;
  erased: Uint8Array | null;
  entry: string;
  /** the leaf's sibling first */
  hashes: Uint8Array[];
  /** the record's notice, if it is stored */
  notice: string | null;
}

/**
 * Undefined if the record is not sealed yet. The proof of a bundle refers to the first time-stamped checkpoint that covers
 * the record, if there is one: then the authority's time applies to the record.
 */
export async function prove(
  sql: Sql,
  wanted: WantedRecord & { isBundle: boolean },
  reported: Reported,
): Promise<Proven | undefined> {
  const month = monthOf(timeOf(wanted.recordId));
  if (await isDropped(sql, month)) throw new Problem('expired', `the records of ${month} are past their retention`);
  const { record, sealed } = await requireRecord(sql, wanted);
  const { log, position } = record;
  if (log === null || position === null || !sealed) return undefined;
  const published = await requireLog(sql, wanted.domainId, log);
  const timestamp = wanted.isBundle ? await findTimestamp(sql, published, position) : null;
  const checkpoint = timestamp?.checkpoint ?? published.checkpoint;
  const entry = entryTextOf(
    { ...sealed, record: { ...record, importedAt: sealed.importedAt }, text: null, position },
    log,
    reported,
  );
  const [hashes] = await proveInclusion(sql, published, checkpoint, [{ leaf: sealed.leaf, position }]);
  if (!hashes) throw reportDifference(log, position, reported);
  const { notice: hash } = record;
  const notice = wanted.isBundle && hash ? ((await findNotice(sql, wanted.domainId, hash))?.toString() ?? null) : null;
  const { secret, erased } = sealed;
  return { published, checkpoint, timestamp, record, position, secret, erased, entry, hashes, notice };
}

export const formatProof = ({ checkpoint, entry, position, hashes }: Proven): string =>
  formatTlogProof({ entry: utf8(entry), index: position, proof: hashes, checkpoint });

export function formatBundle(proven: Proven): ProofBundle {
  const { published, checkpoint, timestamp, record, position, entry, hashes, notice } = proven;
  const { log, verifierKeys } = published;
  return {
    record,
    entry,
    opening: openingOf(proven),
    log,
    position,
    proof: hashes.map(base64),
    checkpoint,
    verifierKeys,
    notice,
    timestamp,
  };
}

/** `private` is null for an erased record: its salt is gone, or it was sealed without personal fields. */
function openingOf({ record, secret, erased, entry }: Proven): ProofBundle['opening'] {
  const salt = erased ? secret : saltOf(sha256, 'circumstances', secret);
  const texts = sealedAs(record).map(circumstancesText);
  const sealed = texts.find((text) => entry.includes(commitment(sha256, salt, text)));
  return {
    circumstances: toText({ salt, text: sealed ?? circumstancesText(record) }),
    private:
      record.erasedAt === null ? toText({ salt: saltOf(sha256, 'private', secret), text: privateText(record) }) : null,
  };
}

const toText = ({ salt, text }: Opening) => ({ salt: hex(salt), text });
