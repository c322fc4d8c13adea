/** GET /v1/consent/:domainId/log/tile/entries/<N>[.p/<W>]: the entries themselves, which the plan gates like records. */

import type { Database } from '#libs/base/db/database';
import { inSnapshot } from '#libs/base/db/snapshot';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import type { Log } from '#libs/base/ops/process-log';
import { domainPath } from '#libs/base/terms/parameters';
import { logQuery } from '#libs/record/contract';
import { organizationIn } from '#libs/tenants/bearer';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/rules';
import { requireTile, tileIn } from './get-tile.ts';
import { requireLog } from './requested-log.ts';
import { readEntryTexts } from './sealed-text.ts';
import { utf8 } from './tree/bytes.ts';
import { packBundle } from './tree/entry-bundle.ts';
import { tileWidth } from './tree/tile-path.ts';

export function entryBundle({ readDb, log }: { readDb: Database; log: Log }): Middleware {
  return guard({ params: domainPath, query: logQuery }, async (ctx, { params: { domainId }, query }) => {
    const organization = organizationIn(ctx);
    requireOwnDomain(organization, domainId);
    requireConsentLog(organization);
    const bundle = tileIn(ctx);
    const from = bundle.index * tileWidth;
    const entries = await readDb.run((sql) =>
      inSnapshot(sql, async (snapshot) => {
        const published = await requireLog(snapshot, domainId, query.log);
        requireTile(bundle, published.size);
        const reported = { log, domainId, requestId: ctx.state.requestId };
        return readEntryTexts(snapshot, published, { from, below: from + bundle.width }, reported);
      }),
    );
    ctx.type = 'application/octet-stream';
    ctx.body = Buffer.from(packBundle(entries.map(utf8)));
  });
}
