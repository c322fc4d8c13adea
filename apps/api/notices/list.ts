/** GET /v1/consent/:domainId/notices: the notices that are held of a domain, newest first. No plan gates them. */
import { domainPath, listQuery } from '#libs/contract/queries';
import type { NoticesPage } from '#libs/contract/responses';
import { type ListedNotice, listNotices as readNotices } from '#libs/store/notices/documents';
import type { Database } from '#libs/store/sql';
import { organizationIn } from '../access/bearer.ts';
import { requireOwnDomain } from '../access/tenant-rules.ts';
import type { Middleware } from '../http/context.ts';
import { makeNumberCursor, readNumberCursor } from '../http/cursor.ts';
import { guard } from '../http/guard.ts';

const defaultLimit = 50;

export function listNotices({ readDb }: { readDb: Database }): Middleware {
  return guard({ params: domainPath, query: listQuery }, async (ctx, { params: { domainId }, query }) => {
    const organization = organizationIn(ctx);
    const binding = { cursorKey: organization.cursorKey, domainId };
    const after = query.cursor === undefined ? undefined : readNumberCursor('notice', query.cursor, binding);
    requireOwnDomain(organization, domainId);
    const { limit = defaultLimit } = query;
    // one more tells whether others follow
    const found = await readDb.run((sql) => readNotices(sql, { domainId, limit: limit + 1, after }));
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const answer: NoticesPage = {
      notices: page.map(toListed),
      nextCursor: found.length > limit && last ? makeNumberCursor('notice', last.number, binding) : null,
    };
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
