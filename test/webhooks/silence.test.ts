/** When a domain counts as silent, and which webhooks get a message. Days are in the past, and each test sets "now". */
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Scheduler } from '#libs/base/scheduler';
import { createSecretBox } from '#libs/base/secret-box';
import { persist } from '#libs/record/persist/persist';
import { createWebhookAdministration } from '#libs/webhooks/administration';
import { createDeliverer, scheduleDelivering } from '#libs/webhooks/delivering';
import { addSilenceMessages } from '#libs/webhooks/domain-silent-messages';
import { createWebhookMetrics } from '#libs/webhooks/metrics';
import { listDeliveries } from '#libs/webhooks/stored-webhooks';
import { startReceiver } from '../support/receiver.ts';
import { recordAt } from '../support/records.ts';
import { secretsKey } from '../support/settings.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';

const key = Buffer.from(secretsKey, 'hex');
const hour = 60 * 60 * 1_000;
const day = 24 * hour;
/** At noon, of the week before the last one: 1970 began with a Thursday. */
const thursday = (Math.floor(Date.now() / (7 * day)) - 1) * 7 * day + 12 * hour;

const { db, sql } = await openDatabase();
const parts = {
  secretsKey: key,
  sender: {
    resolve: async () => ['127.0.0.1'],
    reach: { allowPrivate: true, networks: [], names: [], stores: [] },
    patience: 200_000,
  },
  db,
  log: { info: () => {}, warn: () => {}, error: () => {} },
  metrics: createWebhookMetrics(new Registry()),
};

describe('a domain', () => {
  let tenant: Tenant;
  let domainId: string;
  beforeEach(async () => {
    await sql`truncate webhooks cascade`;
    tenant = await makeTenant(db, { domains: 2 });
    domainId = at(tenant.domainIds, 0);
  });
  const admin = () => createWebhookAdministration(db, 'test');
  type Wanted = Parameters<ReturnType<typeof admin>['create']>[1];
  const make = async (wanted: Partial<Wanted> = {}, of = tenant) => {
    const usual: Wanted = { url: 'https://a.example/', types: ['domain.silent'], domains: null, decisions: null };
    return (await admin().create(of.organizationId, { ...usual, ...wanted }, createSecretBox(key))).webhook;
  };
  /** As many at each of these times. */
  const record = (times: number[], count: number) =>
    persist(
      db,
      times.flatMap((time) => Array.from({ length: count }, () => recordAt(time, { domainId }))),
      { owe: true },
    );
  /** Four weeks until then, without these days of the week (0: Thursday). */
  const weeksUntil = (last: number, without: number[] = []) =>
    Array.from({ length: 28 }, (_, ago) => last - ago * day).filter(
      (time) => !without.includes(Math.floor(time / day) % 7),
    );
  const addMessagesAt = (time: number) => db.run((run) => addSilenceMessages(run, new Date(time)));
  const told = () =>
    sql<{ url: string; data: object }>`
      select url, data from webhook_lanes join webhooks on webhooks.number = webhook
      where type = 'domain.silent' order by webhook_lanes.number`;

  it('is silent after a day without records, which makes one message until they come again, with any number of workers', async () => {
    const paused = await make({ url: 'https://paused.example/' });
    await admin().change(tenant.organizationId, paused.webhookId, { enabled: false });
    await make();
    await make({ types: ['limit.reached'] });
    await make({ domains: [at(tenant.domainIds, 1)] });
    await make({}, await makeTenant(db));
    await record(weeksUntil(thursday), 10);
    expect(await addMessagesAt(thursday + day - 1)).toBe(0);
    const counts = await Promise.all([0, 1, 2].map(() => addMessagesAt(thursday + day)));
    expect(counts.toSorted()).toEqual([0, 0, 1]);
    const message = { domainId, lastRecordAt: new Date(thursday).toISOString() };
    expect(await told()).toEqual([{ url: 'https://a.example/', data: message }]);
    expect(await addMessagesAt(thursday + 2 * day)).toBe(0);
    // a webhook that was disabled gets the messages that are still true
    await admin().change(tenant.organizationId, paused.webhookId, { enabled: true });
    expect(await addMessagesAt(thursday + 2 * day)).toBe(1);
    await record([thursday + 2 * day], 1);
    expect(await addMessagesAt(thursday + 3 * day - 1)).toBe(0);
    expect(await addMessagesAt(thursday + 3 * day)).toBe(2);
  });

  it('that rests at weekends is not silent before Monday', async () => {
    await make();
    const friday = thursday + day;
    await record(weeksUntil(friday, [2, 3]), 20);
    for (const later of [day, 2 * day, 3 * day - 1]) expect(await addMessagesAt(friday + later)).toBe(0);
    expect(await addMessagesAt(friday + 3 * day)).toBe(1);
  });

  it('with few records is silent once seven are missing, and never with fewer than seven in four weeks', async () => {
    await make();
    await record(weeksUntil(thursday - 10 * day), 2);
    expect(await addMessagesAt(thursday - 6 * day - 1)).toBe(0);
    expect(await addMessagesAt(thursday - 6 * day)).toBe(1);
    domainId = at(tenant.domainIds, 1);
    await record(weeksUntil(thursday - 21 * day, [1, 2, 3, 4, 5, 6]), 1);
    for (let days = 1; days <= 35; days += 1) expect(await addMessagesAt(thursday + (days - 21) * day)).toBe(0);
  });

  it('that is archived is not silent, nor one whose records wait in a queue', async () => {
    await make();
    await record(weeksUntil(thursday + 4 * day), 10);
    const rounds = new Map<string, () => Promise<unknown>>();
    const every: Scheduler['every'] = ({ name, task }) => {
      rounds.set(name, () => task(new AbortController().signal));
      return { now: async () => {}, isWell: () => true, stop: async () => {} };
    };
    let isBehind = true;
    scheduleDelivering({ every }, { ...parts, second: 1_000, areRecordsWaiting: async () => isBehind });
    await rounds.get('silence_messages')?.();
    expect(await told()).toEqual([]);
    await sql`update domains set archived_at = now() where id = ${domainId}`;
    isBehind = false;
    await rounds.get('silence_messages')?.();
    expect(await told()).toEqual([]);
    await sql`update domains set archived_at = null where id = ${domainId}`;
    await rounds.get('silence_messages')?.();
    expect(await told()).toHaveLength(1);
  });

  it('that is silent is delivered like all else, and its delivery names it', async () => {
    const receiver = await startReceiver();
    const webhook = await make({ url: receiver.url });
    await record(weeksUntil(thursday), 10);
    await addMessagesAt(thursday + day);
    await Promise.all(await createDeliverer(parts).begin());
    expect(receiver.received.map(({ message: { type, data } }) => [type, data.domainId])).toEqual([
      ['domain.silent', domainId],
    ]);
    expect(await db.run((run) => listDeliveries(run, { webhook: webhook.number, limit: 9 }))).toMatchObject([
      { type: 'domain.silent', domainId, first: null, status: 204 },
    ]);
    // waiting messages of domains that the webhook no longer receives are dropped
    await record([thursday + 2 * day], 1);
    await addMessagesAt(thursday + 3 * day);
    await admin().change(tenant.organizationId, webhook.webhookId, { domains: [at(tenant.domainIds, 1)] });
    expect(await told()).toEqual([]);
  });
});
