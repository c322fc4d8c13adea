/** GET, PATCH and DELETE /v1/organization/webhooks/:webhookId. */

import type { Middleware } from '#libs/base/http/context';
import { changedMeanwhile, requiredVersion } from '#libs/base/http/etag';
import { readFields } from '#libs/base/http/json-body';
import type { Unchanged } from '#libs/tenants/audited-change';
import { organizationIn } from '#libs/tenants/bearer';
import { requireOwnDomain } from '#libs/tenants/rules';
import { webhookChange } from './contract.ts';
import {
  adminOf,
  forWebhook,
  requireAllowed,
  requireUrl,
  requireWebhook,
  show,
  type WebhookParts,
} from './requested-webhook.ts';
import type { Webhook } from './webhooks.ts';

export const showWebhook = (parts: WebhookParts): Middleware =>
  forWebhook(parts, async (ctx, find) => show(ctx, await find()));

export const changeWebhook = (parts: WebhookParts): Middleware =>
  forWebhook(parts, async (ctx, find) => {
    const { url, ...rest } = await readFields(ctx, webhookChange);
    const change = { ...rest, ...(url !== undefined && { url: requireUrl(url, parts) }) };
    const organization = organizationIn(ctx);
    for (const domainId of change.domains ?? []) requireOwnDomain(organization, domainId);
    const webhook = await find();
    const { types = webhook.types, domains = webhook.domains } = change;
    requireAllowed(ctx, organization, { types, domains });
    const version = requiredVersion(ctx, webhook);
    const admin = adminOf(parts, ctx);
    show(ctx, requireChanged(await admin.change(organization.organizationId, webhook.webhookId, change, version)));
  });

/** Answers what it was. */
export const deleteWebhook = (parts: WebhookParts): Middleware =>
  forWebhook(parts, async (ctx, find) => {
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
