/**
 * GET /v1/consent/:domainId/log/checkpoint and …/log/key: what one needs to follow a log. No plan gates them. Not from a
 * replica: whoever follows a log should not see it shrink.
 */

import type { Database } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { domainPath } from '#libs/base/terms/parameters';
import { logQuery } from '#libs/record/contract';
import { organizationIn } from '#libs/tenants/bearer';
import { requireOwnDomain } from '#libs/tenants/rules';
import type { PublishedLog } from './published.ts';
import { requireLog } from './requested-log.ts';

/** The signed note, and when it was signed, which the note itself does not say. */
export const checkpoint = (deps: { db: Database }): Middleware =>
  publishedText(deps, (log, ctx) => {
    ctx.lastModified = log.sealedAt;
    return log.checkpoint;
  });

/** The verifier keys, a line each. */
export const verifierKeys = (deps: { db: Database }): Middleware =>
  publishedText(deps, (log) => log.verifierKeys.map((key) => `${key}\n`).join(''));

function publishedText({ db }: { db: Database }, textOf: (log: PublishedLog, ctx: Context) => string): Middleware {
  return guard({ params: domainPath, query: logQuery }, async (ctx, { params: { domainId }, query }) => {
    requireOwnDomain(organizationIn(ctx), domainId);
    const log = await db.run((sql) => requireLog(sql, domainId, query.log));
    ctx.type = 'text/plain; charset=utf-8';
    ctx.body = textOf(log, ctx);
  });
}
