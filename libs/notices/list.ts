/** GET /v1/consent/:domainId/notices: the notices that are held of a domain, newest first. No plan gates them. */

import type { Database } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { listOf } from '#libs/base/http/list';
import { domainPath, listQuery } from '#libs/base/terms/parameters';
import { organizationIn } from '#libs/tenants/bearer';
import { requireOwnDomain } from '#libs/tenants/rules';
import type { NoticesPage } from './contract.ts';
import { type ListedNotice, listNotices as readNotices } from './documents.ts';

export function listNotices({ db }: { db: Database }): Middleware {
  return guard({ params: domainPath, query: listQuery }, async (ctx, { params: { domainId }, query }) => {
    const organization = organizationIn(ctx);
    const list = listOf('notice', query, { cursorKey: organization.cursorKey, domainId });
    requireOwnDomain(organization, domainId);
    const { page, nextCursor } = await list((range) => db.run((sql) => readNotices(sql, { domainId, ...range })));
    const answer: NoticesPage = { notices: page.map(toListed), nextCursor };
    ctx.body = answer;
  });
}

const toListed = ({ notice, language, version, firstSeenAt, records }: ListedNotice) => ({
  notice,
  language,
  version,
  firstSeenAt: firstSeenAt.toISOString(),
  records,
});
