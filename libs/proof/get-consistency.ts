/** GET /v1/consent/:domainId/log/consistency?from&to: that the log of `to` entries begins with that of `from`. */

import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { refuseFields } from '#libs/base/http/field-errors';
import { guard } from '#libs/base/http/guard';
import { sha256 } from '#libs/base/sha256';
import { domainPath } from '#libs/base/terms/parameters';
import { organizationIn } from '#libs/tenants/bearer';
import { requireOwnDomain } from '#libs/tenants/rules';
import { type Consistency, consistencyQuery } from './contract.ts';
import { readTileBytes } from './hashes.ts';
import { requireLog } from './requested-log.ts';
import { base64 } from './tree/bytes.ts';
import { consistencyProof, consistencyTiles } from './tree/proofs.ts';

export function consistency({ readDb }: { readDb: Database }): Middleware {
  return guard({ params: domainPath, query: consistencyQuery }, async (ctx, { params: { domainId }, query }) => {
    const { from, to } = query;
    requireOwnDomain(organizationIn(ctx), domainId);
    const answer = await readDb.run(async (sql): Promise<Consistency> => {
      const published = await requireLog(sql, domainId, query.log);
      if (to > published.size) {
        throw refuseFields([{ path: '/to', message: `must be at most the log's size, ${published.size}` }]);
      }
      // of one size and the same there is nothing to prove
      const tiles = await readTileBytes(sql, published, consistencyTiles(from, to));
      return { log: published.log, from, to, proof: consistencyProof(sha256, from, to, tiles).map(base64) };
    });
    ctx.body = answer;
  });
}
