/** GET /v1/organization/webhooks/:webhookId/deliveries: every try of the last 30 days, newest first. */
import { listQuery } from '#libs/contract/queries';
import { type DeliveriesPage, webhookPath } from '#libs/contract/webhook';
import { findWebhook, type ListedDelivery, listDeliveries as readDeliveries } from '#libs/store/webhooks/webhooks';
import { organizationIn } from '../access/bearer.ts';
import type { Middleware } from '../http/context.ts';
import { makeNumberCursor, readNumberCursor } from '../http/cursor.ts';
import { guard } from '../http/guard.ts';
import { requireBox, requireWebhook, type WebhookParts } from './webhook.ts';

const defaultLimit = 50;

export function listDeliveries(parts: WebhookParts): Middleware {
  return guard({ params: webhookPath, query: listQuery }, async (ctx, { params: { webhookId }, query }) => {
    const { organizationId, cursorKey } = organizationIn(ctx);
    const binding = { cursorKey, domainId: webhookId };
    const after = query.cursor === undefined ? undefined : readNumberCursor('delivery', query.cursor, binding);
    const webhook = requireWebhook(await parts.db.run((sql) => findWebhook(sql, organizationId, webhookId)));
    requireBox(parts);
    const { limit = defaultLimit } = query;
    // one more tells whether others follow
    const found = await parts.db.run((sql) =>
      readDeliveries(sql, { webhook: webhook.number, limit: limit + 1, after }),
    );
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const answer: DeliveriesPage = {
      deliveries: page.map(toListed),
      nextCursor: found.length > limit && last ? makeNumberCursor('delivery', last.number, binding) : null,
    };
    ctx.body = answer;
  });
}

const toListed = ({
  number,
  at,
  nextTryAt,
  failure,
  ...delivery
}: ListedDelivery): DeliveriesPage['deliveries'][number] => ({
  ...delivery,
  at: at.toISOString(),
  outcome: failure === null ? 'delivered' : 'failed',
  failure,
  nextTryAt: nextTryAt?.toISOString() ?? null,
});
