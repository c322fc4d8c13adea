/** GET /v1/consent/:domainId/notices/:hash: the bytes as they were put, to be saved and never rendered. */

import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { noQuery } from '#libs/base/terms/parameters';
import { Problem } from '#libs/base/terms/problem';
import { organizationIn } from '#libs/tenants/bearer';
import { requireOwnDomain } from '#libs/tenants/rules';
import { noticePath } from './contract.ts';
import { findNotice } from './documents.ts';

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
