/** Changes to webhooks. Each change and its administrative act are written in one transaction. */

import { randomBytes } from 'node:crypto';
import type { Database, Sql } from '#libs/base/db/database';
import type { SecretBox } from '#libs/base/secret-box';
import type { Decision } from '#libs/base/terms/terms';
import { findSize, type LogSize } from '#libs/proof/published';
import { createPerform, type Unchanged } from '#libs/tenants/audited-change';
import { requireRoom } from '#libs/tenants/change-errors';
import { type Headers, namesOf, type WebhookChange, type WebhookType } from './contract.ts';
import {
  addLanes,
  addLanesFromStart,
  dropLanes,
  pauseLanes,
  resetMaxEntries,
  retryLanes,
  rewind,
  wakeLanes,
} from './lanes.ts';
import { makeSecret, sealHeaders } from './secret.ts';
import { deleteDeliveriesOf, findWebhook, type Webhook, webhookColumns } from './stored-webhooks.ts';

/** A webhook to create; the caller has checked it. */
interface NewWebhook {
  url: string;
  types: WebhookType[];
  domains: string[] | null;
  decisions: Decision[] | null;
  headers?: Headers | undefined;
  maxBytes?: number | undefined;
}

/** bytes of a message, by default */
export const usualBytes = 64 * 1024;

/** Hours for which a secret still signs after its rotation. */
const previousFor = 24;

export function createWebhookAdministration(
  db: Pick<Database, 'transaction' | 'read' | 'write'>,
  actor: string,
  perform = createPerform(db, actor),
) {
  return {
    /** Only the result has the secret unencrypted. The webhook starts at the present size of every log. */
    create: (
      organizationId: string,
      made: NewWebhook,
      box: SecretBox,
      quota?: number,
    ): Promise<{ webhook: Webhook; secret: Buffer }> =>
      perform(async (sql, note) => {
        // waits for transactions that are creating a domain, so that `addLanes` sees it; for domains created later, the
        // worker adds the lanes
        await sql`select from organizations where id = ${organizationId} for update`;
        const there = sql<{ there: number }[]>`
          select count(*)::int as there from webhooks where organization_id = ${organizationId}`;
        await requireRoom(quota, 'webhooks', there);
        const webhookId = `wh_${randomBytes(10).toString('hex')}`;
        const secret = makeSecret();
        const { headers = {}, maxBytes = usualBytes } = made;
        const [webhook] = await sql<Webhook[]>`
          insert into webhooks (
            id, organization_id, url, types, domains, decisions, secret, headers, header_names, max_bytes
          )
          values (
            ${webhookId}, ${organizationId}, ${made.url}, ${made.types}, ${made.domains}, ${made.decisions},
            ${box.seal(webhookId, secret)}, ${sealHeaders(box, webhookId, headers)}, ${namesOf(headers)}, ${maxBytes}
          )
          returning ${webhookColumns(sql)}`;
        if (!webhook) throw new Error('a webhook was not made');
        await addLanes(sql, webhook);
        await note({
          act: 'webhook.create',
          subject: webhookId,
          organizationId,
          details: { ...made, headers: namesOf(headers), maxBytes },
        });
        return { webhook, secret };
      }),

    /**
     * `version`: the one that the caller expects, if any. Added domains and types start at the present size. Headers for
     * one receiver are never sent to another; `box` encrypts new ones.
     */
    change: (
      organizationId: string,
      webhookId: string,
      change: WebhookChange,
      { version, box }: { version?: number | undefined; box?: SecretBox | undefined } = {},
    ): Promise<Webhook | Unchanged> =>
      perform(async (sql, note) => {
        await sql`select from organizations where id = ${organizationId} for update`;
        const before = await lockWebhook(sql, organizationId, webhookId);
        if (!before) return 'not found';
        if (version !== undefined && before.version !== version) return 'changed meanwhile';
        const isElsewhere = change.url !== undefined && new URL(change.url).origin !== new URL(before.url).origin;
        const given = change.headers ?? (isElsewhere ? {} : undefined);
        const wanted = {
          url: change.url ?? before.url,
          types: change.types ?? before.types,
          domains: change.domains === undefined ? before.domains : change.domains,
          decisions: change.decisions === undefined ? before.decisions : change.decisions,
          headers: change.headers ? namesOf(change.headers) : isElsewhere ? [] : before.headers,
          maxBytes: change.maxBytes ?? before.maxBytes,
          enabled: change.enabled ?? before.enabled,
        };
        const { url, types, domains, decisions, headers, maxBytes, enabled } = wanted;
        // header values are not compared, so new ones always count as a change
        const changed = { ...differences(before, wanted), ...(change.headers && { headers }) };
        // enabling an enabled webhook says that its receiver works again, so waiting messages are due now
        if (change.enabled && before.enabled) await wakeLanes(sql, before.number);
        if (Object.keys(changed).length === 0) return before;
        await addLanesFromStart(sql, before);
        const [after] = await sql<Webhook[]>`
          update webhooks set
            url = ${url}, types = ${types}, domains = ${domains}, decisions = ${decisions},
            ${given ? sql`headers = ${sealHeaders(box, webhookId, given)}, header_names = ${headers},` : sql``}
            max_bytes = ${maxBytes}, enabled = ${enabled}, version = version + 1,
            failing_since = case when ${enabled && !before.enabled} then null else failing_since end,
            timed_out = timed_out and ${url === before.url}
          where number = ${before.number}
          returning ${webhookColumns(sql)}`;
        if (!after) throw new Error('a webhook was not changed');
        await resetMaxEntries(sql, after.number);
        await dropLanes(sql, after);
        await addLanes(sql, after);
        // waits were for the previous address
        if (enabled && (!before.enabled || url !== before.url)) await wakeLanes(sql, after.number);
        if (!enabled) await pauseLanes(sql, after.number);
        await note({ act: 'webhook.update', subject: webhookId, organizationId, details: changed });
        return after;
      }),

    remove: async (organizationId: string, webhookId: string, version?: number): Promise<Webhook | Unchanged> => {
      const found = await db.read((sql) => findWebhook(sql, organizationId, webhookId));
      // first, because there may be millions; the deletion continues if the request ends with a 503
      if (found && (version ?? found.version) === found.version) await deleteDeliveriesOf(db, found.number);
      return perform(async (sql, note) => {
        const webhook = await lockWebhook(sql, organizationId, webhookId);
        if (!webhook) return 'not found';
        if (version !== undefined && webhook.version !== version) return 'changed meanwhile';
        await sql`delete from webhooks where number = ${webhook.number}`;
        await note({ act: 'webhook.delete', subject: webhookId, organizationId, details: { url: webhook.url } });
        return webhook;
      });
    },

    /** The previous secret also signs for a day. */
    rotate: (
      organizationId: string,
      webhookId: string,
      box: SecretBox,
    ): Promise<{ secret: Buffer; previousUntil: Date } | undefined> =>
      perform(async (sql, note) => {
        const secret = makeSecret();
        const [rotated] = await sql<{ previousUntil: Date }[]>`
          update webhooks set
            previous_secret = secret, previous_until = clock_timestamp() + ${previousFor} * interval '1 hour',
            secret = ${box.seal(webhookId, secret)}, version = version + 1
          where organization_id = ${organizationId} and id = ${webhookId}
          returning previous_until as "previousUntil"`;
        if (!rotated) return undefined;
        await note({ act: 'webhook.rotate', subject: webhookId, organizationId });
        return { secret, ...rotated };
      }),

    /** Returns the id of the message that will be sent. */
    test: (webhook: Webhook): Promise<string> =>
      perform(async (sql, note) => {
        const messageId = `msg_${randomBytes(16).toString('hex')}`;
        const [lane] = await sql<{ messageId: string; isNew: boolean }[]>`
          insert into webhook_lanes (webhook, type, message_id, made_at, data)
          values (${webhook.number}, 'webhook.test', ${messageId}, clock_timestamp(), ${sql.json({ webhookId: webhook.webhookId })})
          on conflict (webhook) where type = 'webhook.test' do update set message_id = webhook_lanes.message_id
          returning message_id as "messageId"`;
        if (!lane) throw new Error('a test was not made');
        await note({
          act: 'webhook.test',
          subject: webhook.webhookId,
          organizationId: webhook.organizationId,
        });
        return lane.messageId;
      }),

    /** Sends waiting messages at once; returns how many. */
    retry: (webhook: Webhook): Promise<number> =>
      perform(async (sql, note) => {
        const { count: messages } = await retryLanes(sql, webhook.number);
        await note({
          act: 'webhook.retry',
          subject: webhook.webhookId,
          organizationId: webhook.organizationId,
          details: { messages },
        });
        return messages;
      }),

    /** Sends the entries again from a position on. Undefined if the log has no such position. */
    replay: (
      webhook: Webhook,
      { domainId, from, log }: { domainId: string; from: number; log?: number | undefined },
    ): Promise<LogSize | undefined> =>
      perform(async (sql, note) => {
        const found = await findSize(sql, domainId, log);
        if (!found || from > found.size) return undefined;
        await rewind(sql, webhook.number, found, from);
        await note({
          act: 'webhook.replay',
          subject: webhook.webhookId,
          organizationId: webhook.organizationId,
          details: { domainId, log: found.log, from },
        });
        return found;
      }),

    /** Called by the worker after the last attempt. True if the webhook was still enabled. */
    disable: (webhook: Pick<Webhook, 'number' | 'webhookId' | 'organizationId'>, reason: string): Promise<boolean> =>
      perform(async (sql, note) => {
        const { count } = await sql`
          update webhooks set enabled = false, version = version + 1 where number = ${webhook.number} and enabled`;
        if (count === 0) return false;
        await pauseLanes(sql, webhook.number);
        await note({
          act: 'webhook.disable',
          subject: webhook.webhookId,
          organizationId: webhook.organizationId,
          details: { reason },
        });
        return true;
      }),
  };
}

async function lockWebhook(sql: Sql, organizationId: string, webhookId: string): Promise<Webhook | undefined> {
  await sql`select from webhooks where organization_id = ${organizationId} and id = ${webhookId} for update`;
  return findWebhook(sql, organizationId, webhookId);
}

type Changeable = Pick<Webhook, 'url' | 'types' | 'domains' | 'decisions' | 'headers' | 'maxBytes' | 'enabled'>;

const differences = (before: Changeable, after: Changeable): Partial<Changeable> =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Changeable]),
    ),
  );
