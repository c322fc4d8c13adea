/** Webhooks as the API, the command line and the dashboard see them. */

import type { Database, Sql } from '#libs/base/db/database';
import { earlierNow } from '#libs/base/db/postgres-time';
import type { Decision } from '#libs/base/terms/terms';
import type { Failure, MessageType, WebhookType } from './contract.ts';

export interface Webhook {
  number: number;
  webhookId: string;
  organizationId: string;
  url: string;
  types: WebhookType[];
  /** null: all */
  domains: string[] | null;
  decisions: Decision[] | null;
  /** their names */
  headers: string[];
  /** of a message */
  maxBytes: number;
  enabled: boolean;
  createdAt: Date;
  lastDeliveredAt: Date | null;
  failingSince: Date | null;
  version: number;
}

/** Whether it receives the records of a domain. */
export const receivesRecordsOf = ({ types, domains }: Pick<Webhook, 'types' | 'domains'>, domainId: string): boolean =>
  types.includes('records.sealed') && (domains?.includes(domainId) ?? true);

export const webhookColumns = (sql: Sql) => sql`
  number, id as "webhookId", organization_id as "organizationId", url, to_json(types) as types,
  to_json(domains) as domains, to_json(decisions) as decisions,
  to_json(header_names) as headers, max_bytes as "maxBytes", enabled, created_at as "createdAt",
  last_delivered_at as "lastDeliveredAt", failing_since as "failingSince", version`;

export async function findWebhook(sql: Sql, organizationId: string, webhookId: string): Promise<Webhook | undefined> {
  const [found] = await sql<Webhook[]>`
    select ${webhookColumns(sql)} from webhooks where organization_id = ${organizationId} and id = ${webhookId}`;
  return found;
}

/** In any organization: for operators. */
export async function findWebhookAnywhere(sql: Sql, webhookId: string): Promise<Webhook | undefined> {
  const [found] = await sql<Webhook[]>`select ${webhookColumns(sql)} from webhooks where id = ${webhookId}`;
  return found;
}

/** Newest first; `after`: the number of the last one of the page before. */
export const listWebhooks = (
  sql: Sql,
  { organizationId, limit, after }: { organizationId: string; limit: number; after?: number | undefined },
): Promise<Webhook[]> => sql<Webhook[]>`
  select ${webhookColumns(sql)} from webhooks
  where organization_id = ${organizationId} and number < ${after ?? 2 ** 31 - 1}
  order by number desc limit ${limit}`;

/** Enabled webhooks of all organizations that have failed since their last delivery, longest first. */
export const listFailingWebhooks = (sql: Sql, limit: number): Promise<Webhook[]> => sql<Webhook[]>`
  select ${webhookColumns(sql)} from webhooks
  where enabled and failing_since is not null
  order by failing_since, number limit ${limit}`;

export interface ListedDelivery {
  number: number;
  messageId: string;
  type: MessageType;
  domainId: string | null;
  log: number | null;
  first: number | null;
  size: number | null;
  attempt: number;
  at: Date;
  milliseconds: number;
  failure: Failure | null;
  status: number | null;
  nextTryAt: Date | null;
}

/** Newest first. */
export const listDeliveries = (
  sql: Sql,
  { webhook, limit, after }: { webhook: number; limit: number; after?: number | undefined },
): Promise<ListedDelivery[]> => sql<ListedDelivery[]>`
  select d.number, message_id as "messageId", type, domains.id as "domainId", log, first, size, attempt, at,
    milliseconds, failure, status, next_try_at as "nextTryAt"
  from webhook_deliveries as d left join domains on domains.number = domain_number
  where webhook = ${webhook} and d.number < ${after ?? Number.MAX_SAFE_INTEGER}
  order by d.number desc limit ${limit}`;

/** days */
const retention = 30;
/** rows in one statement */
const slice = 5_000;

export async function deleteDeliveriesOf(db: Pick<Database, 'write'>, webhook: number): Promise<void> {
  // until none is left, because a concurrent request may delete some of a slice
  for (let last = -1; last !== 0; ) {
    ({ count: last } = await db.write(
      (sql) => sql`
        delete from webhook_deliveries
        where number in (
          select number from webhook_deliveries where webhook = ${webhook} order by number limit ${slice}
        )`,
    ));
  }
}

/** Deletes deliveries that are too old; returns how many. */
export async function deleteOldDeliveries(
  run: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>,
  here = new Date(),
): Promise<number> {
  let deleted = 0;
  for (let last = slice; last === slice; deleted += last) {
    const { count } = await run(
      (sql) => sql`
        delete from webhook_deliveries
        where number in (
          select number from webhook_deliveries where at < ${earlierNow(sql, here)} - ${retention} * interval '1 day'
          order by at limit ${slice}
        )`,
    );
    last = count;
  }
  return deleted;
}
