/** What the endpoints of webhooks share: the webhook that a request is about, and how it is shown. */

import type { Database } from '#libs/base/db/database';
import { createSecretBox, type SecretBox } from '#libs/base/secret-box';
import { refuseFields } from '#libs/base/terms/field-errors';
import { notConfigured, Problem } from '#libs/base/terms/problem';
import type { AccessToken } from '#libs/tenants/access-token';
import { requireScope } from '#libs/tenants/bearer';
import type { SecretKeys } from '#libs/tenants/idempotency';
import type { Reply } from '#libs/tenants/reply';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/requirements';
import type { Organization } from '#libs/tenants/tenants';
import { type Reach, readWebhookUrl } from './addresses.ts';
import type { Webhook as Answer } from './contract.ts';
import { findWebhook, type Webhook } from './stored-webhooks.ts';

export interface WebhookParts {
  config: SecretKeys & { webhookReach: Reach; quotas: { webhooks: number } };
  db: Database;
}

/** Without the key no secret could be kept, so the operator is told in words that they understand. */
export function requireBox({ config: { secretsKey, previousSecretsKey } }: WebhookParts): SecretBox {
  if (secretsKey) return createSecretBox(secretsKey, previousSecretsKey);
  throw notConfigured('this installation has no SECRETS_KEY, which the secrets of webhooks are encrypted with');
}

/** Called once the rest of the request is known to be right: it throws the 404. */
export async function findOwnWebhook(
  parts: WebhookParts,
  { organizationId }: Organization,
  webhookId: string,
): Promise<Webhook> {
  const webhook = await parts.db.read((sql) => findWebhook(sql, organizationId, webhookId));
  requireBox(parts);
  return requireWebhook(webhook);
}

export function requireWebhook(webhook: Webhook | undefined): Webhook {
  if (webhook) return webhook;
  throw webhookNotFound();
}

export const webhookNotFound = (): Problem => new Problem('webhook_not_found', 'your organization has no such webhook');

/** In its one form. */
export function requireUrl(text: string, { config }: WebhookParts): string {
  const read = readWebhookUrl(text, config.webhookReach);
  if ('url' in read) return read.url;
  throw refuseFields([{ path: '/url', message: read.refused }]);
}

/** Entries are what `read` lets one read. */
export function requireScopeFor(access: AccessToken, types: Webhook['types']): void {
  if (types.includes('records.sealed')) requireScope(access, 'read');
}

/** Of domains that are the organization's own. */
export function requireAllowed(
  access: AccessToken,
  organization: Organization,
  { types, domains }: Pick<Webhook, 'types' | 'domains'>,
): void {
  requireScopeFor(access, types);
  for (const domainId of domains ?? []) requireOwnDomain(organization, domainId);
  if (types.includes('records.sealed')) requireConsentLog(organization);
}

/** Whoever lost the log with their plan may still switch a webhook off. */
export function requireAllowedChange(
  access: AccessToken,
  organization: Organization,
  { enabled, ...webhook }: Pick<Webhook, 'types' | 'domains' | 'enabled'>,
): void {
  if (enabled) requireAllowed(access, organization, webhook);
  else requireScopeFor(access, webhook.types);
}

export const show = (webhook: Webhook): Reply<Answer> => ({ version: webhook.version, body: toAnswer(webhook) });

export const toAnswer = (webhook: Webhook): Answer => ({
  webhookId: webhook.webhookId,
  url: webhook.url,
  types: webhook.types,
  domains: webhook.domains,
  decisions: webhook.decisions,
  headers: webhook.headers,
  maxBytes: webhook.maxBytes,
  enabled: webhook.enabled,
  createdAt: webhook.createdAt.toISOString(),
  lastDeliveredAt: webhook.lastDeliveredAt?.toISOString() ?? null,
  failingSince: webhook.failingSince?.toISOString() ?? null,
});
