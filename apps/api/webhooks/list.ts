/** GET /v1/organization/webhooks, newest first. */
import { z } from 'zod';
import { listQuery } from '#libs/contract/queries';
import type { WebhooksPage } from '#libs/contract/webhook';
import { listWebhooks as readWebhooks } from '#libs/store/webhooks/webhooks';
import { organizationIn } from '../access/bearer.ts';
import type { Middleware } from '../http/context.ts';
import { makeNumberCursor, readNumberCursor } from '../http/cursor.ts';
import { guard } from '../http/guard.ts';
import { requireBox, toAnswer, type WebhookParts } from './webhook.ts';

const defaultLimit = 50;

export function listWebhooks(parts: WebhookParts): Middleware {
  return guard({ params: z.object({}), query: listQuery }, async (ctx, { query }) => {
    const { organizationId, cursorKey } = organizationIn(ctx);
    const binding = { cursorKey, domainId: '' };
    const after = query.cursor === undefined ? undefined : readNumberCursor('webhook', query.cursor, binding);
    requireBox(parts);
    const { limit = defaultLimit } = query;
    // one more tells whether others follow
    const found = await parts.db.run((sql) => readWebhooks(sql, { organizationId, limit: limit + 1, after }));
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const answer: WebhooksPage = {
      webhooks: page.map(toAnswer),
      nextCursor: found.length > limit && last ? makeNumberCursor('webhook', last.number, binding) : null,
    };
    ctx.body = answer;
  });
}
