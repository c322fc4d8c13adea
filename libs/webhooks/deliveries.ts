/** GET /v1/organization/webhooks/:webhookId/deliveries: every try of the last 30 days, newest first. */

import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { listOf } from '#libs/base/http/list';
import { listQuery } from '#libs/base/terms/parameters';
import { organizationIn } from '#libs/tenants/bearer';
import { type DeliveriesPage, webhookPath } from './contract.ts';
import { requireBox, requireWebhook, type WebhookParts } from './requested-webhook.ts';
import { findWebhook, type ListedDelivery, listDeliveries as readDeliveries } from './webhooks.ts';

export function listDeliveries(parts: WebhookParts): Middleware {
  return guard({ params: webhookPath, query: listQuery }, async (ctx, { params: { webhookId }, query }) => {
    const { organizationId, cursorKey } = organizationIn(ctx);
    const list = listOf('delivery', query, { cursorKey, domainId: webhookId });
    const webhook = requireWebhook(await parts.db.run((sql) => findWebhook(sql, organizationId, webhookId)));
    requireBox(parts);
    const { page, nextCursor } = await list((range) =>
      parts.db.run((sql) => readDeliveries(sql, { webhook: webhook.number, ...range })),
    );
    const answer: DeliveriesPage = { deliveries: page.map(toListed), nextCursor };
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
