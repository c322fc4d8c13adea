/** Shared by the endpoints of webhooks: checks of a request, and the webhook as it is shown. */

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
import { type AddressPolicy, readWebhookUrl } from './addresses.ts';
import type { Webhook as Shown } from './contract.ts';
import { findWebhook, type Webhook } from './stored-webhooks.ts';

export interface WebhookParts {
  config: SecretKeys & { webhookReach: AddressPolicy; quotas: { webhooks: number } };
  db: Database;
}

/** Secrets cannot be stored without the key. */
export function requireBox({ config: { secretsKey, previousSecretsKey } }: WebhookParts): SecretBox {
  if (secretsKey) return createSecretBox(secretsKey, previousSecretsKey);
  throw notConfigured('this installation has no SECRETS_KEY, which the secrets of webhooks are encrypted with');
}

/** Throws a 404, so it is called after all checks of the request that throw a 400 or 403. */
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

/** Normalized. */
export function requireUrl(text: string, { config }: WebhookParts): string {
  const read = readWebhookUrl(text, config.webhookReach);
  if ('url' in read) return read.url;
  throw refuseFields([{ path: '/url', message: read.refused }]);
}

/** Messages with records need the scope to read them. */
export function requireScopeFor(access: AccessToken, types: Webhook['types']): void {
  if (types.includes('records.sealed')) requireScope(access, 'read');
}

/** Checks scopes, domains and plan. */
export function requireAllowed(
  access: AccessToken,
  organization: Organization,
  { types, domains }: Pick<Webhook, 'types' | 'domains'>,
): void {
  requireScopeFor(access, types);
  for (const domainId of domains ?? []) requireOwnDomain(organization, domainId);
  if (types.includes('records.sealed')) requireConsentLog(organization);
}

/** A webhook can be disabled even if the plan no longer includes the log. */
export function requireAllowedChange(
  access: AccessToken,
  organization: Organization,
  { enabled, ...webhook }: Pick<Webhook, 'types' | 'domains' | 'enabled'>,
): void {
  if (enabled) requireAllowed(access, organization, webhook);
  else requireScopeFor(access, webhook.types);
}

export const show = (webhook: Webhook): Reply<Shown> => ({ version: webhook.version, body: shownWebhook(webhook) });

export const shownWebhook = (webhook: Webhook): Shown => ({
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
