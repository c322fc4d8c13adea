/** POST /v1/organization/webhooks: the answer has the secret, this once. */
import { z } from 'zod';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { readFields } from '#libs/base/http/json-body';
import { noQuery } from '#libs/base/terms/parameters';
import { organizationIn } from '#libs/tenants/bearer';
import { toQuotaProblem } from '#libs/tenants/quota';
import { type MadeWebhook, webhookBody } from './contract.ts';
import {
  adminOf,
  requireAllowed,
  requireBox,
  requireUrl,
  show,
  toAnswer,
  type WebhookParts,
} from './requested-webhook.ts';
import { formatSecret } from './secret.ts';

export function createWebhook(parts: WebhookParts): Middleware {
  return guard({ params: z.object({}), query: noQuery }, async (ctx) => {
    const { url, types, domains = null, decisions = null } = await readFields(ctx, webhookBody);
    const wanted = { url: requireUrl(url, parts), types, domains, decisions };
    const organization = organizationIn(ctx);
    requireAllowed(ctx, organization, wanted);
    const box = requireBox(parts);
    const { webhooks: quota } = parts.config.quotas;
    const { webhook, secret } = await adminOf(parts, ctx)
      .create(organization.organizationId, wanted, box, quota)
      .catch((error: unknown) => {
        throw toQuotaProblem(error);
      });
    const answer: MadeWebhook = { ...toAnswer(webhook), secret: formatSecret(secret) };
    show(ctx, webhook);
    ctx.status = 201;
    ctx.body = answer;
  });
}
