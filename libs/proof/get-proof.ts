/**
 * GET /v1/consent/:domainId/records/:recordId/proof: that a record is in the log, against its newest checkpoint. As a
 * C2SP tlog-proof, or as JSON with all that the entry commits to.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { inSnapshot } from '#libs/base/db/snapshot';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import type { Log } from '#libs/base/ops/process-log';
import { sha256 } from '#libs/base/sha256';
import { monthOf } from '#libs/base/terms/calendar';
import { Problem } from '#libs/base/terms/problem';
import { timeOf } from '#libs/base/terms/uuid';
import { findNotice } from '#libs/notices/documents';
import { type FullRecord, logQuery, recordPath } from '#libs/record/contract';
import { isDropped } from '#libs/record/months';
import { organizationIn } from '#libs/tenants/bearer';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/rules';
import type { ProofBundle } from './contract.ts';
import { readTileBytes } from './hashes.ts';
import { requireRecord } from './one-record.ts';
import type { WantedRecord } from './places.ts';
import type { PublishedLog } from './published.ts';
import { requireLog } from './requested-log.ts';
import { differs, entryTextOf, type Reported } from './sealed-text.ts';
import { findTimestamp, type Timestamp } from './timestamps/stored.ts';
import { base64, hex, utf8 } from './tree/bytes.ts';
import { parseCheckpoint } from './tree/checkpoint.ts';
import { circumstancesText, type Opening, privateText, saltOf } from './tree/entry.ts';
import { parseNote } from './tree/note.ts';
import { inclusionProof, inclusionTiles } from './tree/proofs.ts';
import { formatTlogProof } from './tree/tlog-proof.ts';
import { verifyInclusion } from './tree/verify-proofs.ts';

export interface ProofParts {
  config: { sealSeconds: number };
  readDb: Database;
  log: Log;
}

/** Seconds after which to ask again where nothing is sealed. */
const unsealed = 60;

export function proof({ config, readDb, log }: ProofParts): Middleware {
  const notSealedYet = () =>
    new Problem('not_sealed_yet', 'no checkpoint covers this record yet', {
      headers: { 'Retry-After': String(config.sealSeconds || unsealed) },
    });

  return guard({ params: recordPath, query: logQuery }, async (ctx, { params, query }) => {
    const organization = organizationIn(ctx);
    requireOwnDomain(organization, params.domainId);
    requireConsentLog(organization);
    const reported = { log, domainId: params.domainId, requestId: ctx.state.requestId };
    ctx.vary('Accept');
    const isBundle = ctx.accepts('text/plain', 'application/json') === 'application/json';
    const proven = await readDb.run(async (sql) => {
      const found = await inSnapshot(sql, (snapshot) => prove(snapshot, { ...params, ...query, isBundle }, reported));
      if (!found) throw notSealedYet();
      return found;
    });
    if (isBundle) {
      ctx.body = toBundle(proven);
    } else {
      ctx.type = 'text/plain; charset=utf-8';
      ctx.body = toFile(proven);
    }
  });
}

interface Proven {
  published: PublishedLog;
  /** the one that the proof is against */
  checkpoint: string;
  timestamp: Timestamp | null;
  record: FullRecord;
  position: number;
  secret: Uint8Array;
  erased: Uint8Array | null;
  entry: string;
  /** the leaf's sibling first */
  hashes: Uint8Array[];
  /** the document that the record names, where it is held */
  notice: string | null;
}

/**
 * Undefined where the record is not sealed yet. A bundle's proof is against the first checkpoint with a time-stamp that
 * covers the record, where there is one: the authority's time then holds for the record.
 */
async function prove(
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
  const { root, size } = parseCheckpoint(parseNote(checkpoint).text);
  const entry = entryTextOf(
    { ...sealed, record: { ...record, importedAt: sealed.importedAt }, position },
    log,
    reported,
  );
  const tiles = await readTileBytes(sql, published, inclusionTiles(position, size));
  const hashes = inclusionProof(sha256, position, size, tiles);
  if (!verifyInclusion(sha256, { leaf: sealed.leaf, index: position, size, proof: hashes, root })) {
    throw differs(log, position, reported);
  }
  const { notice: hash } = record;
  const notice = wanted.isBundle && hash ? ((await findNotice(sql, wanted.domainId, hash))?.toString() ?? null) : null;
  const { secret, erased } = sealed;
  return { published, checkpoint, timestamp, record, position, secret, erased, entry, hashes, notice };
}

const toFile = ({ checkpoint, entry, position, hashes }: Proven): string =>
  formatTlogProof({ entry: utf8(entry), index: position, proof: hashes, checkpoint });

function toBundle(proven: Proven): ProofBundle {
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

/** Whoever was erased is not in it: nobody has the salt any more, or there was nothing personal when it was sealed. */
function openingOf({ record, secret, erased }: Proven): ProofBundle['opening'] {
  const salt = erased ? secret : saltOf(sha256, 'circumstances', secret);
  return {
    circumstances: toText({ salt, text: circumstancesText(record) }),
    private:
      record.erasedAt === null ? toText({ salt: saltOf(sha256, 'private', secret), text: privateText(record) }) : null,
  };
}

const toText = ({ salt, text }: Opening) => ({ salt: hex(salt), text });
