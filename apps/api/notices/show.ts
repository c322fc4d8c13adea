/** GET /v1/consent/:domainId/notices/:hash: the bytes as they were put, to be saved and never rendered. */

import { noticePath } from '#libs/contract/notice';
import { Problem } from '#libs/contract/problem';
import { noQuery } from '#libs/contract/queries';
import { findNotice } from '#libs/store/notices/documents';
import type { Database } from '#libs/store/sql';
import { organizationIn } from '../access/bearer.ts';
import { requireOwnDomain } from '../access/tenant-rules.ts';
import type { Middleware } from '../http/context.ts';
import { guard } from '../http/guard.ts';

export function showNotice({ db }: { db: Database }): Middleware {
  return guard({ params: noticePath, query: noQuery }, async (ctx, { params: { domainId, hash } }) => {
    requireOwnDomain(organizationIn(ctx), domainId);
    const document = await db.run((sql) => findNotice(sql, domainId, hash));
    if (!document) throw new Problem('notice_not_found', 'the service holds no such notice of this domain');
    ctx.set('Content-Disposition', `attachment; filename="notice-${hash.slice(0, 12)}.json"`);
    ctx.set('Content-Type', 'application/json');
    ctx.body = document;
  });
}
