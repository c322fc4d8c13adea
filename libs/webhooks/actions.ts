/** POST …/test, …/secret and …/replay: what is done with a webhook beside changing it. */

import type { Middleware } from '#libs/base/http/context';
import { refuseFields } from '#libs/base/http/field-errors';
import { readFields } from '#libs/base/http/json-body';
import { organizationIn } from '#libs/tenants/bearer';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/rules';
import { replayBody, type WebhookReplay, type WebhookSecret, type WebhookTest } from './contract.ts';
import { adminOf, forWebhook, requireBox, requireWebhook, type WebhookParts } from './requested-webhook.ts';
import { formatSecret } from './secret.ts';
import { isToldOf } from './webhooks.ts';

/** The worker sends it; how it went is among the deliveries. */
export const testWebhook = (parts: WebhookParts): Middleware =>
  forWebhook(parts, async (ctx, find) => {
    const webhook = await find();
    const answer: WebhookTest = {
      webhookId: webhook.webhookId,
      messageId: await adminOf(parts, ctx).test(webhook),
    };
    ctx.status = 202;
    ctx.body = answer;
  });

export const rotateSecret = (parts: WebhookParts): Middleware =>
  forWebhook(parts, async (ctx, find) => {
    const { webhookId, organizationId } = await find();
    const rotated = await adminOf(parts, ctx).rotate(organizationId, webhookId, requireBox(parts));
    if (!rotated) return void requireWebhook(undefined);
    const answer: WebhookSecret = {
      webhookId,
      secret: formatSecret(rotated.secret),
      previousUntil: rotated.previousUntil.toISOString(),
    };
    ctx.body = answer;
  });

export const replayWebhook = (parts: WebhookParts): Middleware =>
  forWebhook(parts, async (ctx, find) => {
    const wanted = await readFields(ctx, replayBody);
    const { domainId, from } = wanted;
    const organization = organizationIn(ctx);
    requireOwnDomain(organization, domainId);
    requireConsentLog(organization);
    const webhook = await find();
    if (!isToldOf(webhook, domainId))
      throw refuseFields([{ path: '/domainId', message: 'must be a domain whose records it is told of' }]);
    const found = await adminOf(parts, ctx).replay(webhook, wanted);
    if (!found) throw refuseFields([{ path: '/from', message: "must be at most the log's size" }]);
    const answer: WebhookReplay = { webhookId: webhook.webhookId, domainId, log: found.log, from, size: found.size };
    ctx.body = answer;
  });
