/** Seals erasures: each gets an entry behind that of the record that was erased. */

import type { Database } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import type { RedisConnection } from '#libs/base/redis/connection';
import { type Progress, withMark } from '#libs/epochs/derivations';
import type { PieceSize } from '#libs/epochs/piece-size';
import { lockHeads, sealing } from '../heads.ts';
import type { ProofMetrics } from '../metrics.ts';
import { erasureEntry } from '../tree/entry.ts';
import { addedTexts } from './added.ts';
import { addErasureEntries, listErased, takeErasures } from './erasures-to-seal.ts';
import { extend } from './grow.ts';
import { caughtUp } from './halt.ts';

/** in one transaction */
const domainsLimit = 500;
export const usualErasures = 4_096;

interface ErasuresParts {
  size: PieceSize;
  redis: RedisConnection;
  db: Database;
  metrics: ProofMetrics;
  originOf(domainId: string): string;
}

/** Seals some of the erasures whose records already have positions, if there are any. */
export const sealErasures = (parts: ErasuresParts): Promise<Progress> => parts.size.run(() => sealSome(parts));

const sealSome = ({ size, redis, db, metrics, originOf }: ErasuresParts): Promise<Progress> =>
  withMark(db, sealing, async (sql, mark) => {
    const domains = await listErased(sql, mark, domainsLimit);
    if (domains.length === 0) return 'done';
    const open = await caughtUp(redis, [...(await lockHeads(sql, domains, originOf)).values()]);
    const numbers = open.map(({ domainNumber }) => domainNumber);
    const erasures = await takeErasures(sql, numbers, mark, size.maxRecords());
    const byDomain = groupBy(erasures, ({ domainNumber }) => domainNumber);
    const extensions = open.flatMap((head) => {
      const texts = (byDomain.get(head.domainNumber) ?? []).map(({ id, erasedOn }) => ({
        noticeNumber: null,
        text: erasureEntry({ domainId: head.domainId, id, erasedOn }),
      }));
      return texts.length > 0 ? [{ head, added: addedTexts(head.lastEpoch, texts) }] : [];
    });
    await extend(sql, extensions);
    await addErasureEntries(
      sql,
      open.flatMap(({ domainNumber, log, size }) =>
        (byDomain.get(domainNumber) ?? []).map(({ id, erasureId }, at) => ({
          domainNumber,
          log,
          id,
          erasureId,
          position: size + at,
        })),
      ),
    );
    metrics.entriesSealed.inc(erasures.length);
    return erasures.length > 0 ? 'more' : 'done';
  });
