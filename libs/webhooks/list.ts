/** GET /v1/organization/webhooks, newest first. */
import { z } from 'zod';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { listOf } from '#libs/base/http/list';
import { listQuery } from '#libs/base/terms/parameters';
import { organizationIn } from '#libs/tenants/bearer';
import type { WebhooksPage } from './contract.ts';
import { requireBox, toAnswer, type WebhookParts } from './requested-webhook.ts';
import { listWebhooks as readWebhooks } from './webhooks.ts';

export function listWebhooks(parts: WebhookParts): Middleware {
  return guard({ params: z.object({}), query: listQuery }, async (ctx, { query }) => {
    const { organizationId, cursorKey } = organizationIn(ctx);
    const list = listOf('webhook', query, { cursorKey, domainId: '' });
    requireBox(parts);
    const { page, nextCursor } = await list((range) =>
      parts.db.run((sql) => readWebhooks(sql, { organizationId, ...range })),
    );
    const answer: WebhooksPage = { webhooks: page.map(toAnswer), nextCursor };
    ctx.body = answer;
  });
}
