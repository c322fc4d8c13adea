/** GET /v1/consent/:domainId/notices: the notices that are held of a domain, newest first. No plan gates them. */

import type { NoticesPage } from '#libs/contract/notice';
import { domainPath, listQuery } from '#libs/contract/queries';
import { type ListedNotice, listNotices as readNotices } from '#libs/store/notices/documents';
import type { Database } from '#libs/store/sql';
import { organizationIn } from '../access/bearer.ts';
import { requireOwnDomain } from '../access/tenant-rules.ts';
import type { Middleware } from '../http/context.ts';
import { guard } from '../http/guard.ts';
import { listOf } from '../http/list.ts';

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
