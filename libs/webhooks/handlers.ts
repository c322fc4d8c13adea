/** /v1/organization/webhooks */

import { changedMeanwhile } from '#libs/base/http/etag';
import { listOf } from '#libs/base/http/list';
import { refuseFields } from '#libs/base/terms/field-errors';
import type { Unchanged } from '#libs/tenants/audited-change';
import { endpoint } from '#libs/tenants/endpoint';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/requirements';
import { createWebhookAdministration as adminOf } from './administration.ts';
import type { DeliveriesPage } from './contract.ts';
import {
  findOwnWebhook,
  requireAllowed,
  requireAllowedChange,
  requireBox,
  requireScopeFor,
  requireUrl,
  requireWebhook,
  show,
  shownWebhook,
  type WebhookParts,
  webhookNotFound,
} from './endpoint-checks.ts';
import { webhookRoutes as routes } from './routes.ts';
import { formatSecret } from './secret.ts';
import {
  findWebhook,
  type ListedDelivery,
  listDeliveries as readDeliveries,
  listWebhooks as readWebhooks,
  receivesRecordsOf,
  type Webhook,
} from './stored-webhooks.ts';

export const getWebhooks = endpoint(routes.getWebhooks, async (parts: WebhookParts, { organization, query }) => {
  const { organizationId, cursorKey } = organization;
  const list = listOf('webhook', query, { cursorKey, domainId: '' });
  requireBox(parts);
  const { page, nextCursor } = await list((range) =>
    parts.db.read((sql) => readWebhooks(sql, { organizationId, ...range })),
  );
  return { body: { webhooks: page.map(shownWebhook), nextCursor } };
});

/** Only this response has the secret. */
export const createWebhook = endpoint(
  routes.createWebhook,
  async (parts: WebhookParts, { organization, access, actor, body, once }) => {
    const { url, types, domains = null, decisions = null, ...rest } = body;
    requireScopeFor(access, types);
    const wanted = { url: requireUrl(url, parts), types, domains, decisions, ...rest };
    requireAllowed(access, organization, wanted);
    const box = requireBox(parts);
    return once('encrypted', async (perform) => {
      const admin = adminOf(parts.db, actor, perform);
      const quota = parts.config.quotas.webhooks;
      const { webhook, secret } = await admin.create(organization.organizationId, wanted, box, quota);
      return {
        status: 201,
        version: webhook.version,
        body: { ...shownWebhook(webhook), secret: formatSecret(secret) },
      };
    });
  },
);

export const getWebhook = endpoint(routes.getWebhook, async (parts: WebhookParts, { organization, params }) =>
  show(await findOwnWebhook(parts, organization, params.webhookId)),
);

export const changeWebhook = endpoint(
  routes.changeWebhook,
  async (parts: WebhookParts, { organization, access, actor, params, body: { url, ...rest }, ifMatch }) => {
    requireScopeFor(access, rest.types ?? []);
    const change = { ...rest, ...(url !== undefined && { url: requireUrl(url, parts) }) };
    for (const domainId of change.domains ?? []) requireOwnDomain(organization, domainId);
    const webhook = await findOwnWebhook(parts, organization, params.webhookId);
    const { types = webhook.types, domains = webhook.domains, enabled = webhook.enabled } = change;
    requireAllowedChange(access, organization, { types, domains, enabled });
    const which = { version: ifMatch(webhook), box: requireBox(parts) };
    const { organizationId, webhookId } = webhook;
    return show(requireChanged(await adminOf(parts.db, actor).change(organizationId, webhookId, change, which)));
  },
);

export const deleteWebhook = endpoint(
  routes.deleteWebhook,
  async (parts: WebhookParts, { organization, actor, params, ifMatch }) => {
    const webhook = await findOwnWebhook(parts, organization, params.webhookId);
    const { organizationId, webhookId } = webhook;
    return show(requireChanged(await adminOf(parts.db, actor).remove(organizationId, webhookId, ifMatch(webhook))));
  },
);

function requireChanged(changed: Webhook | Unchanged): Webhook {
  if (changed === 'changed meanwhile') throw changedMeanwhile();
  return requireWebhook(changed === 'not found' ? undefined : changed);
}

/** The worker sends it; the deliveries show the outcome. */
export const testWebhook = endpoint(
  routes.testWebhook,
  async (parts: WebhookParts, { organization, actor, params }) => {
    const webhook = await findOwnWebhook(parts, organization, params.webhookId);
    const messageId = await adminOf(parts.db, actor).test(webhook);
    return { status: 202, body: { webhookId: webhook.webhookId, messageId } };
  },
);

export const retryWebhook = endpoint(
  routes.retryWebhook,
  async (parts: WebhookParts, { organization, actor, params }) => {
    const webhook = await findOwnWebhook(parts, organization, params.webhookId);
    const messages = await adminOf(parts.db, actor).retry(webhook);
    return { status: 202, body: { webhookId: webhook.webhookId, messages } };
  },
);

export const rotateWebhookSecret = endpoint(
  routes.rotateWebhookSecret,
  async (parts: WebhookParts, { organization, actor, params, once }) => {
    const { webhookId, organizationId } = await findOwnWebhook(parts, organization, params.webhookId);
    return once('encrypted', async (perform) => {
      const rotated = await adminOf(parts.db, actor, perform).rotate(organizationId, webhookId, requireBox(parts));
      if (!rotated) throw webhookNotFound();
      const { secret, previousUntil } = rotated;
      return { body: { webhookId, secret: formatSecret(secret), previousUntil: previousUntil.toISOString() } };
    });
  },
);

export const replayWebhook = endpoint(
  routes.replayWebhook,
  async (parts: WebhookParts, { organization, actor, params: { webhookId }, body, once }) => {
    const { domainId, from } = body;
    requireOwnDomain(organization, domainId);
    requireConsentLog(organization);
    const webhook = await findOwnWebhook(parts, organization, webhookId);
    if (!receivesRecordsOf(webhook, domainId))
      throw refuseFields([{ path: '/domainId', message: 'must be a domain whose records it receives' }]);
    return once('plain', async (perform) => {
      const found = await adminOf(parts.db, actor, perform).replay(webhook, body);
      if (!found) throw refuseFields([{ path: '/from', message: "must be at most the log's size" }]);
      return { body: { webhookId, domainId, log: found.log, from, size: found.size } };
    });
  },
);

export const getDeliveries = endpoint(
  routes.getDeliveries,
  async (parts: WebhookParts, { organization: { organizationId, cursorKey }, params: { webhookId }, query }) => {
    const list = listOf('delivery', query, { cursorKey, domainId: webhookId });
    const webhook = requireWebhook(await parts.db.read((sql) => findWebhook(sql, organizationId, webhookId)));
    requireBox(parts);
    const { page, nextCursor } = await list((range) =>
      parts.db.read((sql) => readDeliveries(sql, { webhook: webhook.number, ...range })),
    );
    return { body: { deliveries: page.map(toListed), nextCursor } };
  },
);

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
