/** Secrets of webhooks under a new SECRETS_KEY. */
import type { Database } from '#libs/base/db/database';
import { createPerform } from '#libs/tenants/audited-change';
import type { SecretBox } from './secret.ts';

/** webhooks in one transaction */
const chunk = 500;

interface Sealed {
  number: number;
  webhookId: string;
  secret: Buffer;
  previousSecret: Buffer | null;
}

/** Encrypts every secret anew, and returns how many webhooks there are. Throws at the first that `box` cannot open. */
export async function resealSecrets(db: Database, box: SecretBox, actor: string): Promise<number> {
  const perform = createPerform(db, actor);
  for (let [resealed, after] = [0, 0]; ; ) {
    const some = await perform(async (sql, note) => {
      const webhooks = await sql<Sealed[]>`
        select number, id as "webhookId", secret, previous_secret as "previousSecret" from webhooks
        where number > ${after} order by number limit ${chunk} for update`;
      for (const { number, webhookId, secret, previousSecret } of webhooks) {
        const anew = (sealed: Buffer) => box.seal(webhookId, box.open(webhookId, sealed));
        await sql`
          update webhooks set secret = ${anew(secret)}, previous_secret = ${previousSecret && anew(previousSecret)}
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
