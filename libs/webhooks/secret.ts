/** Secrets of webhooks. They sign messages, so they are stored encrypted under SECRETS_KEY and not as hashes. */
import { randomBytes } from 'node:crypto';
import type { Database } from '#libs/base/db/database';
import type { SecretBox } from '#libs/base/secret-box';
import { createPerform } from '#libs/tenants/audited-change';
import { type Headers, headersGiven } from './contract.ts';

/** 32 random bytes, as Standard Webhooks writes them. */
export const formatSecret = (secret: Buffer): string => `whsec_${secret.toString('base64')}`;
export const makeSecret = (): Buffer => randomBytes(32);

/** The context that headers are sealed with, so that a webhook's secret does not open as headers. */
const headersContext = (webhookId: string): string => `${webhookId} headers`;

/** Null without headers. Throws if there are headers but no box. */
export function sealHeaders(box: SecretBox | undefined, webhookId: string, headers: Headers): Buffer | null {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  if (named.length === 0) return null;
  if (!box) throw new Error('headers need the key that they are encrypted with');
  return box.seal(headersContext(webhookId), Buffer.from(JSON.stringify(Object.fromEntries(named))));
}

/** Throws if they were sealed under another key or for another webhook. */
export const openHeaders = (box: SecretBox, webhookId: string, sealed: Buffer | null): Headers =>
  sealed ? headersGiven.parse(JSON.parse(box.open(headersContext(webhookId), sealed).toString())) : {};

/** webhooks in one transaction */
const chunk = 500;

interface Sealed {
  number: number;
  webhookId: string;
  secret: Buffer;
  previousSecret: Buffer | null;
  headers: Buffer | null;
}

/** Encrypts all secrets again, and returns the number of webhooks. Throws at the first secret that `box` cannot open. */
export async function resealSecrets(db: Database, box: SecretBox, actor: string): Promise<number> {
  const perform = createPerform(db, actor);
  for (let [total, after] = [0, 0]; ; ) {
    const some = await perform(async (sql, note) => {
      const webhooks = await sql<Sealed[]>`
        select number, id as "webhookId", secret, previous_secret as "previousSecret", headers from webhooks
        where number > ${after} order by number limit ${chunk} for update`;
      for (const { number, webhookId, secret, previousSecret, headers } of webhooks) {
        const resealed = (sealed: Buffer, of = webhookId) => box.seal(of, box.open(of, sealed));
        await sql`
          update webhooks set secret = ${resealed(secret)}, previous_secret = ${previousSecret && resealed(previousSecret)},
            headers = ${headers && resealed(headers, headersContext(webhookId))}
          where number = ${number}`;
      }
      if (webhooks.length > 0)
        await note({ act: 'webhook.reseal', subject: 'all', details: { webhooks: webhooks.length } });
      return webhooks;
    });
    total += some.length;
    after = some.at(-1)?.number ?? after;
    if (some.length < chunk) return total;
  }
}
