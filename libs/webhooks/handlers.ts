/** What an organization is told of, and where. */

import type { Middleware } from '#libs/base/http/context';
import { changedMeanwhile, requiredVersion, tagOf } from '#libs/base/http/etag';
import { guard } from '#libs/base/http/guard';
import { listOf } from '#libs/base/http/list';
import { refuseFields } from '#libs/base/terms/field-errors';
import type { Around, Unchanged } from '#libs/tenants/audited-change';
import { organizationIn } from '#libs/tenants/bearer';
import { answerOnce } from '#libs/tenants/idempotency';
import { toQuotaProblem } from '#libs/tenants/refused-changes';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/requirements';
import type {
  DeliveriesPage,
  MadeWebhook,
  WebhookReplay,
  WebhookSecret,
  WebhooksPage,
  WebhookTest,
} from './contract.ts';
import {
  adminOf,
  forWebhook,
  requireAllowed,
  requireAllowedChange,
  requireBox,
  requireScopeFor,
  requireUrl,
  requireWebhook,
  secretsKeyOf,
  show,
  toAnswer,
  type WebhookParts,
  webhookNotFound,
} from './requested-webhook.ts';
import { webhookRoutes as routes } from './routes.ts';
import { formatSecret } from './secret.ts';
import {
  findWebhook,
  isToldOf,
  type ListedDelivery,
  listDeliveries as readDeliveries,
  listWebhooks as readWebhooks,
  type Webhook,
} from './stored-webhooks.ts';

export function getWebhooks(parts: WebhookParts): Middleware {
  return guard(routes.getWebhooks, async (ctx, { query }) => {
    const { organizationId, cursorKey } = organizationIn(ctx);
    const list = listOf('webhook', query, { cursorKey, domainId: '' });
    requireBox(parts);
    const { page, nextCursor } = await list((range) =>
      parts.db.read((sql) => readWebhooks(sql, { organizationId, ...range })),
    );
    const answer: WebhooksPage = { webhooks: page.map(toAnswer), nextCursor };
    ctx.body = answer;
  });
}

/** The answer has the secret, this once. */
export function createWebhook(parts: WebhookParts): Middleware {
  return guard(routes.createWebhook, async (ctx, { body }) => {
    const { url, types, domains = null, decisions = null, ...rest } = body;
    requireScopeFor(ctx, types);
    const wanted = { url: requireUrl(url, parts), types, domains, decisions, ...rest };
    const organization = organizationIn(ctx);
    requireAllowed(ctx, organization, wanted);
    const box = requireBox(parts);
    const { webhooks: quota } = parts.config.quotas;
    const make = (around: Around | undefined) =>
      adminOf(parts, ctx, around)
        .create(organization.organizationId, wanted, box, quota)
        .catch((error: unknown) => {
          throw toQuotaProblem(error);
        });
    await answerOnce(ctx, { body, secretsKey: secretsKeyOf(parts) }, make, ({ webhook, secret }) => {
      const answer: MadeWebhook = { ...toAnswer(webhook), secret: formatSecret(secret) };
      return { status: 201, body: answer, etag: tagOf(webhook) };
    });
  });
}

export const getWebhook = (parts: WebhookParts): Middleware =>
  forWebhook(routes.getWebhook, parts, async (ctx, { find }) => show(ctx, await find()));

export const changeWebhook = (parts: WebhookParts): Middleware =>
  forWebhook(routes.changeWebhook, parts, async (ctx, { find, body: { url, ...rest } }) => {
    requireScopeFor(ctx, rest.types ?? []);
    const change = { ...rest, ...(url !== undefined && { url: requireUrl(url, parts) }) };
    const organization = organizationIn(ctx);
    for (const domainId of change.domains ?? []) requireOwnDomain(organization, domainId);
    const webhook = await find();
    const { types = webhook.types, domains = webhook.domains, enabled = webhook.enabled } = change;
    requireAllowedChange(ctx, organization, { types, domains, enabled });
    const version = requiredVersion(ctx, webhook);
    const { organizationId } = organization;
    const changed = await adminOf(parts, ctx).change(organizationId, webhook.webhookId, change, {
      version,
      box: requireBox(parts),
    });
    show(ctx, requireChanged(changed));
  });

/** Answers what it was. */
export const deleteWebhook = (parts: WebhookParts): Middleware =>
  forWebhook(routes.deleteWebhook, parts, async (ctx, { find }) => {
    const webhook = await find();
    const { organizationId } = organizationIn(ctx);
    const version = requiredVersion(ctx, webhook);
    const admin = adminOf(parts, ctx);
    show(ctx, requireChanged(await admin.remove(organizationId, webhook.webhookId, version)));
  });

function requireChanged(changed: Webhook | Unchanged): Webhook {
  if (changed === 'changed meanwhile') throw changedMeanwhile();
  return requireWebhook(changed === 'not found' ? undefined : changed);
}

/** The worker sends it; how it went is among the deliveries. */
export const testWebhook = (parts: WebhookParts): Middleware =>
  forWebhook(routes.testWebhook, parts, async (ctx, { find }) => {
    const webhook = await find();
    const answer: WebhookTest = {
      webhookId: webhook.webhookId,
      messageId: await adminOf(parts, ctx).test(webhook),
    };
    ctx.status = 202;
    ctx.body = answer;
  });

export const rotateWebhookSecret = (parts: WebhookParts): Middleware =>
  forWebhook(routes.rotateWebhookSecret, parts, async (ctx, { find }) => {
    const { webhookId, organizationId } = await find();
    await answerOnce(
      ctx,
      { secretsKey: secretsKeyOf(parts) },
      (around) => adminOf(parts, ctx, around).rotate(organizationId, webhookId, requireBox(parts)),
      (rotated) => {
        if (!rotated) throw webhookNotFound();
        const { secret, previousUntil } = rotated;
        const answer: WebhookSecret = {
          webhookId,
          secret: formatSecret(secret),
          previousUntil: previousUntil.toISOString(),
        };
        return { status: 200, body: answer };
      },
    );
  });

export const replayWebhook = (parts: WebhookParts): Middleware =>
  forWebhook(routes.replayWebhook, parts, async (ctx, { find, body: wanted }) => {
    const { domainId, from } = wanted;
    const organization = organizationIn(ctx);
    requireOwnDomain(organization, domainId);
    requireConsentLog(organization);
    const webhook = await find();
    if (!isToldOf(webhook, domainId))
      throw refuseFields([{ path: '/domainId', message: 'must be a domain whose records it is told of' }]);
    await answerOnce(
      ctx,
      { body: wanted },
      (around) => adminOf(parts, ctx, around).replay(webhook, wanted),
      (found) => {
        if (!found) throw refuseFields([{ path: '/from', message: "must be at most the log's size" }]);
        const { log, size } = found;
        const answer: WebhookReplay = { webhookId: webhook.webhookId, domainId, log, from, size };
        return { status: 200, body: answer };
      },
    );
  });

/** Every try of the last 30 days, newest first. */
export function getDeliveries(parts: WebhookParts): Middleware {
  return guard(routes.getDeliveries, async (ctx, { params: { webhookId }, query }) => {
    const { organizationId, cursorKey } = organizationIn(ctx);
    const list = listOf('delivery', query, { cursorKey, domainId: webhookId });
    const webhook = requireWebhook(await parts.db.read((sql) => findWebhook(sql, organizationId, webhookId)));
    requireBox(parts);
    const { page, nextCursor } = await list((range) =>
      parts.db.read((sql) => readDeliveries(sql, { webhook: webhook.number, ...range })),
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
