/** Secrets of webhooks: they sign, so they cannot be kept as hashes; they are encrypted under SECRETS_KEY. */
import { randomBytes } from 'node:crypto';
import type { Database } from '#libs/base/db/database';
import type { SecretBox } from '#libs/base/secret-box';
import { createPerform } from '#libs/tenants/audited-change';
import { type Headers, headersGiven } from './contract.ts';

/** 32 random bytes, as Standard Webhooks writes them. */
export const formatSecret = (secret: Buffer): string => `whsec_${secret.toString('base64')}`;
export const makeSecret = (): Buffer => randomBytes(32);

/** What headers are sealed for: a webhook's secret does not open as them. */
const headersOf = (webhookId: string): string => `${webhookId} headers`;

/** Null where there are none. Without a box there may be none. */
export function sealHeaders(box: SecretBox | undefined, webhookId: string, headers: Headers): Buffer | null {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  if (named.length === 0) return null;
  if (!box) throw new Error('headers need the key that they are encrypted with');
  return box.seal(headersOf(webhookId), Buffer.from(JSON.stringify(Object.fromEntries(named))));
}

/** Throws where they were sealed under another key or for another webhook. */
export const openHeaders = (box: SecretBox, webhookId: string, sealed: Buffer | null): Headers =>
  sealed ? headersGiven.parse(JSON.parse(box.open(headersOf(webhookId), sealed).toString())) : {};

/** webhooks in one transaction */
const chunk = 500;

interface Sealed {
  number: number;
  webhookId: string;
  secret: Buffer;
  previousSecret: Buffer | null;
  headers: Buffer | null;
}

/** Encrypts every secret anew, and returns how many webhooks there are. Throws at the first that `box` cannot open. */
export async function resealSecrets(db: Database, box: SecretBox, actor: string): Promise<number> {
  const perform = createPerform(db, actor);
  for (let [resealed, after] = [0, 0]; ; ) {
    const some = await perform(async (sql, note) => {
      const webhooks = await sql<Sealed[]>`
        select number, id as "webhookId", secret, previous_secret as "previousSecret", headers from webhooks
        where number > ${after} order by number limit ${chunk} for update`;
      for (const { number, webhookId, secret, previousSecret, headers } of webhooks) {
        const anew = (sealed: Buffer, of = webhookId) => box.seal(of, box.open(of, sealed));
        await sql`
          update webhooks set secret = ${anew(secret)}, previous_secret = ${previousSecret && anew(previousSecret)},
            headers = ${headers && anew(headers, headersOf(webhookId))}
          where number = ${number}`;
      }
      if (webhooks.length > 0)
        await note({ act: 'webhook.reseal', subject: 'all', details: { webhooks: webhooks.length } });
      return webhooks;
    });
    resealed += some.length;
    after = some.at(-1)?.number ?? after;
    if (some.length < chunk) return resealed;
  }
}
