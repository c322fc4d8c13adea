/** What an organization cannot take from another one; whose turn it is, `test/webhooks/lane-turns.test.ts` says. */
import { expect, it } from 'vitest';
import { createSecretBox } from '#libs/base/secret-box';
import { persist } from '#libs/record/persist/persist';
import { createWebhookAdministration } from '#libs/webhooks/administration';
import type { Webhook } from '#libs/webhooks/stored-webhooks';
import { startReceiver } from '../support/receiver.ts';
import { recordAt } from '../support/records.ts';
import { startWorker } from '../support/service.ts';
import { secretsKey } from '../support/settings.ts';
import { at, openStores, sealSettings } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

/** of a worker for one organization */
const deliveriesOfOne = 32;

it('a message is sent though no receiver of another organization answers, and the rest of theirs waits', async () => {
  const { db, env } = await openStores();
  const [worst, own] = [await makeTenant(db), await makeTenant(db)];
  const [slow, receiver] = [await startReceiver(), await startReceiver()];
  slow.answerWith(() => {});
  await startWorker({ ...env, ...sealSettings, WEBHOOK_ALLOW_PRIVATE: 'true' });
  const [admin, box] = [createWebhookAdministration(db, 'test'), createSecretBox(Buffer.from(secretsKey, 'hex'))];
  const make = async (organizationId: string, url: string) =>
    (await admin.create(organizationId, { url, types: ['records.sealed'], domains: null, decisions: null }, box))
      .webhook;
  const theirs: Webhook[] = [];
  for (let count = 0; count < deliveriesOfOne + 8; count += 1) theirs.push(await make(worst.organizationId, slow.url));
  // at once: a receiver that lets one time out has one place
  await Promise.all(theirs.map((webhook) => admin.test(webhook)));
  await slow.until(deliveriesOfOne);
  await make(own.organizationId, receiver.url);
  await persist(db, [recordAt(Date.now(), { domainId: at(own.domainIds, 0) })], { owe: true });
  await receiver.until(1);
  expect(slow.received).toHaveLength(deliveriesOfOne);
});
