/** What the endpoints of webhooks share: the webhook that a request is about, and how it is shown. */

import type { Database } from '#libs/base/db/database';
import type { Context, Middleware } from '#libs/base/http/context';
import { setVersion } from '#libs/base/http/etag';
import { guard } from '#libs/base/http/guard';
import type { BodyOf, Route } from '#libs/base/http/routes';
import { createSecretBox, type SecretBox } from '#libs/base/secret-box';
import { refuseFields } from '#libs/base/terms/field-errors';
import { notConfigured, Problem } from '#libs/base/terms/problem';
import type { Around } from '#libs/tenants/audited-change';
import { accessIn, organizationIn, requireScope } from '#libs/tenants/bearer';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/requirements';
import type { Organization } from '#libs/tenants/tenants';
import { type Reach, readWebhookUrl } from './addresses.ts';
import { createWebhookAdministration } from './administration.ts';
import type { Webhook as Answer, webhookPath } from './contract.ts';
import { findWebhook, type Webhook } from './stored-webhooks.ts';

export interface WebhookParts {
  config: { secretsKey: Buffer | undefined; webhookReach: Reach; quotas: { webhooks: number } };
  db: Database;
}

export const adminOf = ({ db }: WebhookParts, ctx: Context, around?: Around) =>
  createWebhookAdministration(db, accessIn(ctx).subject, around);

/** Without the key no secret could be kept, so the operator is told in words that they understand. */
export function requireBox({ config: { secretsKey } }: WebhookParts): SecretBox {
  if (secretsKey) return createSecretBox(secretsKey);
  throw notConfigured('this installation has no SECRETS_KEY, which the secrets of webhooks are encrypted with');
}

/** `find` is called once the rest of the request is known to be right: it throws the 404. */
export const forWebhook = <R extends Pick<Route, 'body'> & { params: typeof webhookPath }>(
  row: R,
  parts: WebhookParts,
  handle: (ctx: Context, given: { find: () => Promise<Webhook>; body: BodyOf<R> }) => Promise<void>,
): Middleware =>
  guard(row, async (ctx, { params: { webhookId }, body }) => {
    const { organizationId } = organizationIn(ctx);
    const find = async () => {
      const webhook = await parts.db.read((sql) => findWebhook(sql, organizationId, webhookId));
      requireBox(parts);
      return requireWebhook(webhook);
    };
    await handle(ctx, { find, body });
  });

export function requireWebhook(webhook: Webhook | undefined): Webhook {
  if (webhook) return webhook;
  throw webhookNotFound();
}

export const webhookNotFound = (): Problem => new Problem('webhook_not_found', 'your organization has no such webhook');

/** What answers with secrets are kept under. */
export const secretsKeyOf = ({ config }: WebhookParts) => ({ key: config.secretsKey });

/** In its one form. */
export function requireUrl(text: string, { config }: WebhookParts): string {
  const read = readWebhookUrl(text, config.webhookReach);
  if ('url' in read) return read.url;
  throw refuseFields([{ path: '/url', message: read.refused }]);
}

/** Entries are what `read` lets one read. */
export function requireScopeFor(ctx: Context, types: Webhook['types']): void {
  if (types.includes('records.sealed')) requireScope(ctx, 'read');
}

/** Of domains that are the organization's own. */
export function requireAllowed(
  ctx: Context,
  organization: Organization,
  { types, domains }: Pick<Webhook, 'types' | 'domains'>,
): void {
  requireScopeFor(ctx, types);
  for (const domainId of domains ?? []) requireOwnDomain(organization, domainId);
  if (types.includes('records.sealed')) requireConsentLog(organization);
}

/** Whoever lost the log with their plan may still switch a webhook off. */
export function requireAllowedChange(
  ctx: Context,
  organization: Organization,
  { enabled, ...webhook }: Pick<Webhook, 'types' | 'domains' | 'enabled'>,
): void {
  if (enabled) requireAllowed(ctx, organization, webhook);
  else requireScopeFor(ctx, webhook.types);
}

/** Sets the `ETag`, too. */
export function show(ctx: Context, webhook: Webhook): void {
  setVersion(ctx, webhook);
  ctx.body = toAnswer(webhook);
}

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
