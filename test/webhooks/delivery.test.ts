/** Deliveries, step by step: a worker's deliverer, a real receiver and its failures; time passes when the test says so. */
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { Registry } from 'prom-client';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sql } from '#libs/base/db/database';
import { createSecretBox } from '#libs/base/secret-box';
import { monthOf } from '#libs/base/terms/calendar';
import { verifyWebhook } from '#libs/client/webhook';
import { readFeed } from '#libs/log/feed-entries';
import { eraseVisitor } from '#libs/privacy/erasures';
import { restartLog } from '#libs/proof/seal/restart';
import { persist } from '#libs/record/persist/persist';
import { createAdministration } from '#libs/tenants/administration';
import { createPerform } from '#libs/tenants/audited-change';
import { createVisitorHash } from '#libs/tenants/visitors';
import type { AddressPolicy } from '#libs/webhooks/addresses';
import { createWebhookAdministration } from '#libs/webhooks/administration';
import { createDeliverer, type Deliverer } from '#libs/webhooks/delivering';
import { lines } from '#libs/webhooks/lanes';
import { createWebhookMetrics, webhookBacklog } from '#libs/webhooks/metrics';
import { addLimitMessages } from '#libs/webhooks/monthly-limit-messages';
import { waits } from '#libs/webhooks/retries';
import { formatSecret, resealSecrets } from '#libs/webhooks/secret';
import type { Sender } from '#libs/webhooks/send';
import { deleteOldDeliveries, findWebhook, listDeliveries, type Webhook } from '#libs/webhooks/stored-webhooks';
import { openCertificate } from '../support/certificate.ts';
import { openGate } from '../support/gate.ts';
import { openPool } from '../support/pool.ts';
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, logName } from '../support/sealing.ts';
import { privacyKey, secretsKey } from '../support/settings.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';
import { hasOpenssl } from '../support/time-authority.ts';
import { inTransaction } from '../support/transaction.ts';
import { eventually } from '../support/wait.ts';

const key = Buffer.from(secretsKey, 'hex');
const box = createSecretBox(key);
const day = 24 * 60 * 60 * 1_000;
const closed: AddressPolicy = { allowPrivate: false, networks: [], names: [], stores: [] };
const free: AddressPolicy = { ...closed, allowPrivate: true };
const quiet = { info: () => {}, warn: () => {}, error: () => {} };

const { db, sql, url } = await openDatabase();
const sealer = createSealer(db, await openRedis((await openRedisServer()).url));

describe('deliveries', () => {
  let tenant: Tenant;
  let receiver: Receiver;
  let deliverer: Deliverer;

  beforeEach(async () => {
    await sql`truncate webhooks cascade`;
    await sql`delete from administrative_acts`;
    tenant = await makeTenant(db, { domains: 2 });
    receiver = await openReceiver();
    deliverer = startDeliverer();
  });
  // what a receiver leaves unanswered would write into the next test
  afterEach(async () => {
    for (const each of receivers.splice(0)) each.hangUp();
    await Promise.all(underWay.splice(0));
  });

  const receivers: Receiver[] = [];
  const openReceiver: typeof startReceiver = async (tls) => {
    const opened = await startReceiver(tls);
    receivers.push(opened);
    return opened;
  };
  const underWay: Promise<void>[] = [];
  /** No try ends by its patience, unless the test gives it less. */
  const startDeliverer = (sender: Partial<Sender> = {}, by = db): Deliverer => {
    const made = createDeliverer({
      secretsKey: key,
      sender: { resolve: async () => ['127.0.0.1'], reach: free, patience: 200_000, ...sender },
      db: by,
      log: quiet,
      metrics: createWebhookMetrics(new Registry()),
      chance: () => 0.5,
    });
    const begin = async () => {
      const begun = await made.begin();
      underWay.push(...begun);
      return begun;
    };
    return { ...made, begin };
  };
  const admin = () => createWebhookAdministration(db, 'test');
  type Wanted = Parameters<ReturnType<typeof admin>['create']>[1];
  const make = ({ of = tenant, ...rest }: Partial<Wanted> & { of?: Tenant } = {}) => {
    const usual: Wanted = { url: receiver.url, types: ['records.sealed'], domains: null, decisions: null };
    return admin().create(of.organizationId, { ...usual, ...rest }, box);
  };
  const change = (webhook: Webhook, wanted: Parameters<ReturnType<typeof admin>['change']>[2]) =>
    admin().change(tenant.organizationId, webhook.webhookId, wanted, { box });
  const makeDomain = () =>
    createAdministration(db, 'test').createDomain(tenant.organizationId, { name: 'new', origins: [] });
  const record = async (count: number, fields: Partial<Parameters<typeof recordAt>[1]> = {}) => {
    const records = Array.from({ length: count }, () =>
      recordAt(Date.now(), {
        ...{ domainId: at(tenant.domainIds, 0), ip: '192.0.2.0', userAgent: 'Mozilla/5.0', bot: false },
        ...fields,
      }),
    );
    await persist(db, records, { owe: true });
    return records.map(({ id }) => id).toSorted();
  };
  const seal = async (...given: Parameters<typeof record>) => {
    const ids = await record(...given);
    await sealer.closeAndSeal();
    return ids;
  };
  const eraseV = () => {
    const hash = createVisitorHash(Buffer.from(privacyKey, 'hex'))(tenant.organizationId, 'v');
    return eraseVisitor(db, { organizationId: tenant.organizationId, visitorId: 'v', hash, actor: 'test' });
  };
  /** Until nothing is due any more. */
  const deliver = async (by = deliverer) => {
    await by.wake();
    for (let begun = await by.begin(); begun.length > 0; begun = await by.begin()) await Promise.all(begun);
  };
  /** Stores and seals as many, and sends them. */
  const sendNew = async (...given: Parameters<typeof record>) => {
    const ids = await seal(...given);
    await deliver();
    return ids;
  };
  /** Milliseconds, for all that is due or taken. */
  const pass = (milliseconds: number) =>
    sql`
      update webhook_lanes set due_at = due_at - ${milliseconds} * interval '1 ms',
        claimed_until = claimed_until - ${milliseconds} * interval '1 ms'`;
  const again = async ({ webhookId, organizationId }: Webhook): Promise<Webhook> => {
    const found = await db.run((sql) => findWebhook(sql, organizationId, webhookId));
    return found ?? expect.fail('the webhook is gone');
  };
  const tries = ({ number }: Webhook) => db.run((sql) => listDeliveries(sql, { webhook: number, limit: 200 }));
  const lastTry = async (of: Webhook) => at(await tries(of), 0);
  /** Milliseconds from the end of the last try to the next. */
  const waitAfter = (of: Webhook) =>
    lastTry(of).then(
      ({ nextTryAt, at, milliseconds }) => nextTryAt && nextTryAt.getTime() - at.getTime() - milliseconds,
    );
  const entriesIn = (received: Received[]) =>
    received.flatMap(
      ({ message }) => message.data.entries as { position: number; type: string; record: Record<string, unknown> }[],
    );
  const idsIn = (received: Received[]) => entriesIn(received).map(({ record }) => record.id);
  const setPlan = async (change: { consentLog?: boolean; monthlyRecordLimit?: number | null }) => {
    const [row] = await sql<{ plan: string }>`select plan from organizations where id = ${tenant.organizationId}`;
    await createAdministration(db, 'test').setPlan(row?.plan ?? '', change);
  };
  const acts = () =>
    sql<{ act: string; actor: string; details: object }>`
      select act, actor, details from administrative_acts where act like 'webhook.%' order by id`;

  it('have new entries only, at most 100, once and in order from any worker, signed, without address and device, and again after a replay', async () => {
    await seal(3);
    const { webhook, secret } = await make();
    const ids = await seal(250);
    await Promise.all([deliverer, startDeliverer(), startDeliverer()].map(deliver));
    await deliver();
    expect(receiver.received.map(({ message: { type, data } }) => [type, data.first, data.size])).toEqual([
      ['records.sealed', 3, 103],
      ['records.sealed', 103, 203],
      ['records.sealed', 203, 253],
    ]);
    const entries = entriesIn(receiver.received);
    expect(entries.map(({ record }) => record.id)).toEqual(ids);
    expect(entries.map(({ position }) => position)).toEqual(ids.map((_, each) => each + 3));
    for (const { record } of entries) {
      expect(Object.keys(record)).not.toContain('ip');
      expect(Object.keys(record)).not.toContain('userAgent');
    }
    const verifier = new Verifier(formatSecret(secret));
    for (const { headers, body } of receiver.received) {
      const signed = headers as Record<string, string>;
      expect(verifier.verify(body, signed)).toEqual(JSON.parse(body));
      expect(() => verifier.verify(`${body} `, signed)).toThrow();
      expect(await verifyWebhook(body, headers, formatSecret(secret))).toEqual(JSON.parse(body));
    }
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
    const after = await again(webhook);
    expect(after.lastDeliveredAt).not.toBeNull();
    expect(await tries(webhook)).toMatchObject([
      { type: 'records.sealed', first: 203, size: 253, attempt: 1, status: 204, failure: null },
      { first: 103, size: 203 },
      { first: 3, size: 103 },
    ]);
    await deliver();
    expect(receiver.received).toHaveLength(3);
    // again, as new messages
    const domainId = at(tenant.domainIds, 0);
    expect(await admin().replay(webhook, { domainId, from: 254 })).toBeUndefined();
    expect(await admin().replay(webhook, { domainId, from: 251 })).toMatchObject({ log: 1, size: 253 });
    await deliver();
    expect(idsIn(receiver.received.slice(3))).toEqual(ids.slice(-2));
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(4);
    expect((await acts()).at(-1)).toMatchObject({ act: 'webhook.replay', details: { domainId, log: 1, from: 251 } });
  });

  it('of any type have at most as many bytes as asked for, and miss nothing', async () => {
    const maxBytes = 16_384;
    await make({ maxBytes, types: ['records.sealed', 'visitor.erased'] });
    const ids = await sendNew(20, { tcString: 'é'.repeat(2_000), visitorId: 'v' });
    const sizes = () => receiver.received.map(({ body }) => Buffer.byteLength(body));
    expect(Math.max(...sizes())).toBeLessThanOrEqual(maxBytes);
    expect(receiver.received).toHaveLength(Math.ceil(ids.length / Math.floor(maxBytes / 4_600)));
    expect(idsIn(receiver.received)).toEqual(ids);
    // positions alone: the administration sets no bounds
    await sql`truncate webhooks cascade`;
    await make({ maxBytes: 1_024, types: ['visitor.erased'] });
    receiver.received.length = 0;
    await seal(300, { visitorId: 'v' });
    await eraseV();
    await sealer.closeAndSeal();
    await deliver();
    expect(receiver.received.length).toBeGreaterThan(1);
    expect(Math.max(...sizes())).toBeLessThanOrEqual(1_024);
    const positions = receiver.received.flatMap(({ message }) => message.data.positions as number[]);
    expect(positions.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 320 }, (_, each) => each));
  });

  it('that are too large for a receiver are sent again at once with half as many entries, and stay so', async () => {
    const { webhook } = await make();
    const most = 30;
    const sizeOf = (received: Received) => entriesIn([received]).length;
    receiver.answerWith((response, received) => {
      response.writeHead(sizeOf(received) > most ? 413 : 204).end();
    });
    const ids = await sendNew(150);
    const taken = receiver.received.filter((each) => sizeOf(each) <= most);
    expect(idsIn(taken)).toEqual(ids);
    expect(receiver.received.map(sizeOf)).toEqual([100, 50, 25, 25, 25, 25, 25, 25]);
    expect(await again(webhook)).toMatchObject({ enabled: true, failingSince: null });
    expect((await tries(webhook)).at(-1)).toMatchObject({ attempt: 1, status: 413, failure: 'status' });
    // one entry that is too large is a failure like any other
    receiver.answerWith((response) => void response.writeHead(413).end());
    await sendNew(1);
    expect(await waitAfter(webhook)).toBe(at(waits, 0));
    // another receiver may take more
    await change(webhook, { maxBytes: 1_048_576 });
    receiver.received.length = 0;
    receiver.answerWith();
    await seal(60);
    await pass(6_000);
    await deliver();
    expect(receiver.received.map(sizeOf)).toEqual([1, 60]);
  });

  it('have the headers that were given, which are kept encrypted and go to no other origin', async () => {
    const headers = { authorization: 'Bearer s3cret', 'x-api-key': 's3cret too' };
    const { webhook } = await make({ headers });
    const names = Object.keys(headers);
    expect(webhook.headers).toEqual(names);
    await resealSecrets(db, createSecretBox(Buffer.alloc(32, 7), key), 'test');
    await resealSecrets(db, createSecretBox(key, Buffer.alloc(32, 7)), 'test');
    expect(await change(webhook, { url: `${receiver.url}/other` })).toMatchObject({ headers: names });
    await sendNew(1);
    expect(at(receiver.received, -1).headers).toMatchObject(headers);
    const rows = await sql`
      select w::text as text from webhooks as w union all select details::text from administrative_acts`;
    const stored = JSON.stringify(rows);
    for (const text of ['s3cret', Buffer.from('s3cret').toString('hex')]) expect(stored).not.toContain(text);
    expect(stored).toContain('authorization');
    const other = await openReceiver();
    expect(await change(webhook, { url: other.url })).toMatchObject({ headers: [] });
    await sendNew(1);
    expect(at(other.received, 0).headers).not.toHaveProperty('authorization');
    expect(await change(webhook, { headers: { 'x-new': '1' } })).toMatchObject({ headers: ['x-new'] });
    await sendNew(1);
    expect(at(other.received, -1).headers).toMatchObject({ 'x-new': '1', 'user-agent': 'Assent' });
  });

  it('that fail are tried again as promised, with one id, and the last failure disables the webhook', async () => {
    const { webhook } = await make();
    receiver.answerWith((response) => void response.writeHead(500).end('secret detail'));
    await sendNew(2);
    for (const [failed, wait] of waits.entries()) {
      expect(receiver.received).toHaveLength(failed + 1);
      const [newest] = await tries(webhook);
      expect(newest).toMatchObject({ attempt: failed + 1, failure: 'status', status: 500 });
      expect(await waitAfter(webhook)).toBe(wait);
      await record(1);
      // time also passes by itself, and the first wait is short
      const margin = 60_000;
      await pass(wait - margin);
      await deliver();
      expect(receiver.received).toHaveLength(failed + 1);
      await pass(margin);
      await deliver();
    }
    expect(receiver.received).toHaveLength(waits.length + 1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect((await tries(webhook)).at(0)).toMatchObject({ attempt: 10, nextTryAt: null });
    const after = await again(webhook);
    expect(after.enabled).toBe(false);
    expect(after.failingSince).toEqual((await tries(webhook)).at(-1)?.at);
    expect(await acts()).toMatchObject([
      { act: 'webhook.create', actor: 'test' },
      { act: 'webhook.disable', actor: 'worker', details: { reason: 'every try failed' } },
    ]);
    // once enabled, it goes on where it stopped
    receiver.answerWith();
    await sealer.closeAndSeal();
    await pass(30 * day);
    await deliver();
    expect(receiver.received).toHaveLength(waits.length + 1);
    await change(webhook, { enabled: true });
    await deliver();
    expect(entriesIn(receiver.received.slice(waits.length + 1)).map(({ position }) => position)).toEqual(
      Array.from({ length: 2 + waits.length }, (_, each) => each),
    );
    expect((await again(webhook)).failingSince).toBeNull();
  });

  it('that wait for their next try are sent at once when asked for, with a new series of tries, and others are not', async () => {
    const { webhook } = await make();
    const other = await make({ url: `${receiver.url}/other` });
    receiver.answerWith((response) => void response.writeHead(500, { 'retry-after': '600' }).end());
    await sendNew(1);
    await pass(601_000);
    await deliver();
    expect(await lastTry(webhook)).toMatchObject({ attempt: 2 });
    await sendNew(1, { domainId: at(tenant.domainIds, 1) });
    const before = receiver.received.length;
    await change(other.webhook, { enabled: false });
    expect(await admin().retry(other.webhook)).toBe(0);
    expect(await admin().retry(webhook)).toBe(2);
    await deliver();
    expect(receiver.received).toHaveLength(before + 2);
    expect(await lastTry(webhook)).toMatchObject({ attempt: 1 });
    expect(await waitAfter(webhook)).toBe(600_000);
    receiver.answerWith();
    expect(await admin().retry(webhook)).toBe(2);
    await deliver();
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(4);
    expect(await again(webhook)).toMatchObject({ enabled: true, failingSince: null });
    expect(await admin().retry(webhook)).toBe(0);
    expect((await acts()).at(-1)).toMatchObject({ act: 'webhook.retry', details: { messages: 0 } });
  });

  it('wait as long as the receiver asks, do not follow redirects, speak no other protocol, and end with a 410', async () => {
    const other = await openReceiver();
    const { webhook } = await make();
    await seal(1);
    for (const [status, failure, wait, headers] of [
      [503, 'status', 120_000, { 'retry-after': '120' }],
      [307, 'redirect', at(waits, 1), { location: other.url }],
      [101, 'status', at(waits, 2), { connection: 'upgrade', upgrade: 'x' }],
      [410, 'gone', null, {}],
    ] as const) {
      receiver.answerWith((response) => void response.writeHead(status, headers).end());
      await deliver();
      expect(await lastTry(webhook)).toMatchObject({ failure, status });
      expect(await waitAfter(webhook)).toBe(wait);
      await pass(wait ?? 0);
    }
    expect((await again(webhook)).enabled).toBe(false);
    expect((await acts()).at(-1)).toMatchObject({ act: 'webhook.disable', details: { reason: 'gone' } });
    expect(other.received).toEqual([]);
  });

  it('are done with the head of a response, no matter what its body does', async () => {
    const { webhook } = await make();
    let isCut = false;
    receiver.answerWith((response) => {
      response.writeHead(200).write('drip');
      response.on('close', () => {
        isCut = true;
      });
    });
    await sendNew(1);
    expect(await lastTry(webhook)).toMatchObject({ failure: null, status: 200 });
    await eventually(() => expect(isCut).toBe(true));
    // its body cannot be read
    receiver.answerWith(
      (response) => void response.socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n'),
    );
    await sendNew(1);
    expect(await lastTry(webhook)).toMatchObject({ failure: null, status: 200 });
  });

  it.skipIf(!hasOpenssl)('go only to a receiver whose certificate holds', async () => {
    const tls = await openCertificate('hooks.example');
    const secure = await openReceiver({ key: readFileSync(tls.keyFile, 'utf8'), cert: tls.cert });
    const { webhook } = await make({ url: `https://hooks.example:${secure.port}/` });
    await sendNew(1);
    expect(await lastTry(webhook)).toMatchObject({ failure: 'certificate', status: null });
    expect(secure.received).toEqual([]);
    await pass(6_000);
    await deliver(startDeliverer({ ca: tls.cert }));
    expect(await lastTry(webhook)).toMatchObject({ failure: null, status: 204 });
    await change(webhook, { url: `https://other.example:${secure.port}/` });
    await seal(1);
    await deliver(startDeliverer({ ca: tls.cert }));
    expect(await lastTry(webhook)).toMatchObject({ failure: 'certificate', status: null });
  });

  it('go to no name that leads to this machine, also where it did not when it was asked before', async () => {
    const { webhook } = await make({ url: `https://hooks.example:${receiver.port}/` });
    await seal(1);
    for (const addresses of [['127.0.0.1'], ['93.184.215.14', '::ffff:10.0.0.1'], ['64:ff9b::a9fe:a9fe']]) {
      await deliver(startDeliverer({ reach: closed, resolve: async () => addresses }));
      expect(await lastTry(webhook)).toMatchObject({ failure: 'address', status: null });
      await pass(60 * 60_000);
    }
    // a setting that was taken back
    await change(webhook, { url: receiver.url });
    await deliver(startDeliverer({ reach: closed }));
    expect(await lastTry(webhook)).toMatchObject({ failure: 'address', status: null });
    expect(receiver.received).toEqual([]);
  });

  it('are of the own organization, and of the wanted decisions and domains alone', async () => {
    const [others, theirs] = [await makeTenant(db), await openReceiver()];
    await make({ of: others, url: theirs.url });
    await make({ decisions: ['withdraw'], domains: [at(tenant.domainIds, 0)] });
    await seal(120);
    const [withdrawn] = await seal(1, { decision: 'withdraw' });
    await sendNew(1, { decision: 'withdraw', domainId: at(tenant.domainIds, 1) });
    expect(idsIn(receiver.received)).toEqual([withdrawn]);
    expect(theirs.received).toEqual([]);
  });

  it('of a domain that is made while nobody delivers begin with its first entry, also if the webhook is changed then', async () => {
    const { webhook } = await make();
    const { domainId } = await makeDomain();
    const ids = await seal(2, { domainId });
    await change(webhook, { types: ['records.sealed', 'visitor.erased'] });
    await Promise.all([deliver(), deliver(startDeliverer())]);
    ids.push(...(await seal(1, { domainId })));
    await deliver();
    expect(idsIn(receiver.received)).toEqual(ids);
  });

  it('go on while the lanes of another organization cannot be compared', async () => {
    const { webhook } = await make({ of: await makeTenant(db), url: 'https://other.example/' });
    await createAdministration(db, 'test').createDomain(webhook.organizationId, { name: 'new', origins: [] });
    await make();
    await seal(1);
    let woken: Promise<void> | undefined;
    await db.run((sql) =>
      sql.begin(async (own) => {
        await own`select from webhooks where number = ${webhook.number} for update`;
        woken = deliverer.wake();
        await eventually(async () => {
          await deliverer.begin();
          expect(receiver.received).toHaveLength(1);
        });
      }),
    );
    await woken;
  });

  it('are not of a new domain where the webhook is just changed to others', async () => {
    const { webhook } = await make();
    const { domainId } = await makeDomain();
    await seal(1, { domainId });
    const waking = await db.run((sql) =>
      sql.begin(async (transaction) => {
        const changing = createWebhookAdministration(inTransaction(db, transaction), 'test');
        await changing.change(tenant.organizationId, webhook.webhookId, { domains: [at(tenant.domainIds, 0)] });
        const woken = deliverer.wake();
        await eventually(async () => {
          const waiting = await sql`
            select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
          expect(waiting).toHaveLength(1);
        });
        return { woken };
      }),
    );
    await waking.woken;
    await deliver();
    expect(receiver.received).toEqual([]);
  });

  it('carry two signatures for a day after a rotation', async () => {
    const { webhook, secret } = await make();
    const rotated = await admin().rotate(tenant.organizationId, webhook.webhookId, box);
    const secrets = [rotated?.secret, secret].map((each) => formatSecret(each ?? expect.fail('not rotated')));
    await sendNew(1);
    const signatures = () => String(at(receiver.received, -1).headers['webhook-signature']).split(' ');
    expect(signatures()).toHaveLength(2);
    const verify = (each: string) => {
      const { headers, body } = at(receiver.received, -1);
      return new Verifier(each).verify(body, headers as Record<string, string>);
    };
    for (const each of secrets) expect(verify(each)).toMatchObject({ type: 'records.sealed' });
    await sql`update webhooks set previous_until = previous_until - interval '1 day'`;
    await sendNew(1);
    expect(signatures()).toHaveLength(1);
  });

  it('have the time of the event, however late they are sent, and in a replay', async () => {
    const { webhook } = await make({ types: ['records.sealed', 'visitor.erased', 'limit.reached'] });
    /** A millisecond between what came before and what comes after. */
    const now = async () => {
      const [row] = await sql<{ now: Date }>`
        select clock_timestamp() + interval '1 ms' as now, pg_sleep(0.002)`;
      return row?.now.toISOString() ?? '';
    };
    // none is a lane's last look: before anything happens all have been looked at
    await deliver();
    const times = [await now()];
    const happen = async (what: () => Promise<unknown>) => {
      await what();
      times.push(await now());
    };
    // 256 entries make one run of what two rounds have sealed
    await happen(() => seal(100, { visitorId: 'v' }));
    await happen(() => seal(100));
    await happen(eraseV);
    await happen(() => setPlan({ monthlyRecordLimit: 2 }).then(() => db.run(addLimitMessages)));
    await happen(() => sealer.closeAndSeal());
    await deliver();
    const stamped = (received: Received[]) =>
      received.map(({ message: { type, timestamp, data } }) => {
        const event = times.findIndex((time) => time >= timestamp) - 1;
        return [type, data.size, event];
      });
    const told = stamped(receiver.received);
    expect(told.filter(([type]) => type === 'records.sealed')).toEqual([
      ['records.sealed', 100, 0],
      ['records.sealed', 200, 1],
      ['records.sealed', 300, 4],
    ]);
    expect(told.filter(([type]) => type !== 'records.sealed')).toEqual(
      expect.arrayContaining([
        ['visitor.erased', undefined, 2],
        ['limit.reached', undefined, 3],
      ]),
    );
    const stampsOf = (received: Received[]) =>
      received.map(({ message: { type, timestamp } }) => `${type} ${timestamp}`).toSorted();
    const first = receiver.received.filter(({ message }) => message.type !== 'limit.reached');
    await admin().replay(webhook, { domainId: at(tenant.domainIds, 0), from: 0 });
    receiver.received.length = 0;
    await deliver();
    expect(stampsOf(receiver.received)).toEqual(stampsOf(first));
  });

  it('of entries wait while the plan holds them back; others do not', async () => {
    const { webhook } = await make({ types: ['records.sealed', 'limit.reached'] });
    await setPlan({ monthlyRecordLimit: 2, consentLog: false });
    await seal(3);
    await db.run(addLimitMessages);
    await deliver();
    expect(receiver.received.map(({ message }) => message.type)).toEqual(['limit.reached']);
    await setPlan({ consentLog: true });
    await pass(61_000);
    await deliver();
    expect(entriesIn(receiver.received.slice(1))).toHaveLength(3);
    expect((await again(webhook)).failingSince).toBeNull();
  });

  it('of limits come once a month each, of the time when the record came that reached them', async () => {
    await make({ types: ['limit.approaching', 'limit.reached'] });
    await setPlan({ monthlyRecordLimit: 10 });
    const limits = async () => {
      await db.run(addLimitMessages);
      await deliver();
      return receiver.received.map(({ message }) => [message.type, message.data]);
    };
    const now = Date.now();
    const month = monthOf(now);
    const ago = (seconds: number) => ({ receivedAt: new Date(now - seconds * 1_000).toISOString() });
    const lastAt = () => at(receiver.received, -1).message.timestamp;
    await record(7, ago(50));
    expect(await limits()).toEqual([]);
    // crawlers' records of epochs that are open yet, of any of its domains
    for (const domainId of tenant.domainIds) await record(5, { domainId, bot: true });
    expect(await limits()).toEqual([]);
    const [eighth, tenth] = [ago(40), ago(20)];
    await record(1, eighth);
    const approaching = ['limit.approaching', { month, used: 8, limit: 10 }];
    expect(await limits()).toEqual([approaching]);
    expect(lastAt()).toBe(eighth.receivedAt);
    await record(1, ago(30));
    expect(await limits()).toEqual([approaching]);
    await record(1, tenth);
    await record(1);
    const reached = ['limit.reached', { month, used: 11, limit: 10 }];
    expect(await limits()).toEqual([approaching, reached]);
    expect(lastAt()).toBe(tenth.receivedAt);
    await record(5);
    expect(await limits()).toEqual([approaching, reached]);
  });

  it('of erasures are of one log each, also of one that was restarted since, in every attempt', async () => {
    const domainId = at(tenant.domainIds, 0);
    await make({ types: ['visitor.erased'] });
    await seal(2, { visitorId: 'v' });
    await restartLog(createPerform(db, 'test'), domainId, async () => ({
      log: 2,
      origin: `${logName}/${domainId}/2`,
    }));
    await seal(1);
    await seal(2, { visitorId: 'v' });
    await eraseV();
    await seal(1);
    receiver.answerWith((response) => void response.writeHead(500).end());
    await deliver();
    receiver.answerWith();
    for (let round = 0; round < 2; round += 1) {
      await pass(60_000);
      await deliver();
    }
    const first = ['visitor.erased', { domainId, log: 1, positions: [0, 1] }];
    expect(receiver.received.map(({ message: { type, data } }) => [type, data])).toEqual([
      first,
      first,
      ['visitor.erased', { domainId, log: 2, positions: [1, 2] }],
    ]);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect([ids[0] === ids[1], ids[1] === ids[2]]).toEqual([true, false]);
    // the same in the feed
    const entries = await db.run(async (sql) => {
      const [domain] = await sql<{ number: number }[]>`select number from domains where id = ${domainId}`;
      return readFeed(sql, { domainNumber: domain?.number ?? 0, log: 2 }, { from: 0, below: 100 });
    });
    expect(entries.filter(({ type }) => type === 'erasure')).toMatchObject([
      { erases: null, erased: { log: 1, position: 0 } },
      { erases: null, erased: { log: 1, position: 1 } },
      { erases: 1, erased: { log: 2, position: 1 } },
      { erases: 2, erased: { log: 2, position: 2 } },
    ]);
  });

  it('whose last failure could not disable the webhook are tried once more, which does', async () => {
    const { webhook } = await make();
    receiver.answerWith((response) => void response.writeHead(410).end());
    await db.run((sql) =>
      sql.unsafe(`
        create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
        create trigger refuse before insert on administrative_acts for each row
          when (new.act = 'webhook.disable') execute function refuse()`),
    );
    await sendNew(1);
    expect((await again(webhook)).enabled).toBe(true);
    await sql`drop trigger refuse on administrative_acts`;
    await deliver();
    expect(receiver.received).toHaveLength(1);
    await pass(60_000);
    await deliver();
    expect(receiver.received).toHaveLength(2);
    expect((await again(webhook)).enabled).toBe(false);
    await pass(day);
    await deliver();
    expect(receiver.received).toHaveLength(2);
  });

  it('of a test are tried once, also while the webhook is disabled', async () => {
    const { webhook } = await make();
    await change(webhook, { enabled: false });
    receiver.answerWith((response) => void response.writeHead(500).end());
    const messageId = await admin().test(webhook);
    expect(await admin().test(webhook)).toBe(messageId);
    await deliver();
    await pass(day);
    await deliver();
    expect(receiver.received.map(({ message, headers }) => [message.type, headers['webhook-id']])).toEqual([
      ['webhook.test', messageId],
    ]);
    expect(await tries(webhook)).toMatchObject([{ type: 'webhook.test', failure: 'status', nextTryAt: null }]);
    expect((await again(webhook)).failingSince).toBeNull();
  });

  it('whose worker stops while Postgres is away are tried again once their leases end', async () => {
    const gate = await openGate(url);
    const stopping = startDeliverer({}, openPool(gate.url));
    const unanswered: ServerResponse[] = [];
    receiver.answerWith((response) => void unanswered.push(response));
    await make();
    await seal(1);
    await stopping.wake();
    await stopping.begin();
    await receiver.until(1);
    gate.shut();
    await stopping.release();
    receiver.answerWith();
    for (const response of unanswered) response.destroy();
    await pass(day);
    await deliver();
    expect(receiver.received).toHaveLength(2);
  });

  it('that may be large are four of an organization at once, since they take memory', async () => {
    const slow = await openReceiver();
    const unanswered: ServerResponse[] = [];
    slow.answerWith((response) => void unanswered.push(response));
    for (let count = 0; count < 6; count += 1)
      await admin().test((await make({ url: slow.url, maxBytes: 1024 * 1024 })).webhook);
    let ended = 0;
    for (const each of await deliverer.begin()) void each.then(() => (ended += 1));
    await slow.until(4);
    await eventually(() => expect(ended).toBe(2));
    await admin().test((await make({ of: await makeTenant(db), maxBytes: 1024 * 1024 })).webhook);
    await deliverer.begin();
    await receiver.until(1);
    expect(slow.received).toHaveLength(4);
    slow.answerWith();
    for (const response of unanswered) response.end();
    await eventually(async () => {
      await pass(1_000);
      await deliverer.begin();
      expect(slow.received).toHaveLength(6);
    });
  });

  it('to a receiver that lets them time out come down to one at a time, until it responds', async () => {
    const slow = await openReceiver();
    const webhooks: Webhook[] = [];
    for (let count = 0; count < 4; count += 1) webhooks.push((await make({ url: slow.url })).webhook);
    slow.answerWith(() => {});
    /** How many tests are sent at once. */
    const send = async (by: Deliverer) => {
      for (const webhook of webhooks) await admin().test(webhook);
      const begun = await by.begin();
      await Promise.all(begun);
      return begun.length;
    };
    const impatient = startDeliverer({ patience: 100 });
    expect([await send(impatient), await send(impatient)]).toEqual([4, 1]);
    expect((await tries(at(webhooks, 0))).map(({ failure }) => failure)).toEqual(['timeout', 'timeout']);
    slow.answerWith((response) => void response.writeHead(500).end());
    expect([await send(deliverer), await send(deliverer)]).toEqual([1, 4]);
  });

  it('of a worker that is gone are taken over once its lease ends, with the same id', async () => {
    const { webhook } = await make();
    receiver.answerWith(() => {});
    await seal(1);
    await deliverer.wake();
    await deliverer.begin();
    await receiver.until(1);
    receiver.answerWith();
    const other = startDeliverer();
    await deliver(other);
    // to claim, read and write may take 10 seconds each, and to send 16
    await pass(46_000);
    await deliver(other);
    expect(receiver.received).toHaveLength(1);
    await record(1);
    await sealer.closeAndSeal();
    await pass(15_000);
    await deliver(other);
    const [first, second, third] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    expect(third?.message.data).toMatchObject({ first: 1, size: 2 });
    expect(await tries(webhook)).toHaveLength(2);
  });

  it.each(['400 days', '10 minutes'])(
    'are made although a clock that was %s ahead noted when, who is at them, and since when they fail',
    async (ahead) => {
      const { webhook } = await make();
      receiver.answerWith((response) => void response.writeHead(500).end());
      await sendNew(1);
      await db.run(async (sql) => {
        await sql`
        update webhook_lanes set due_at = due_at + ${ahead}::interval, claimed_by = gen_random_uuid(),
          claimed_until = clock_timestamp() + ${ahead}::interval
        where due_at < 'infinity'`;
        await sql`update webhook_deliveries set at = at + ${ahead}::interval`;
        await sql`update webhooks set failing_since = failing_since + ${ahead}::interval`;
      });
      const other = startDeliverer();
      await deliver(other);
      expect(receiver.received).toHaveLength(2);
      expect((await again(webhook)).failingSince?.getTime()).toBeLessThan(Date.now() + 60_000);
      const { longest } = await db.run(webhookBacklog.ask);
      expect(longest).toBeGreaterThanOrEqual(0);
      for (const each of [other, startDeliverer()]) await deliver(each);
      expect(receiver.received).toHaveLength(2);
    },
  );

  it('of a log that has nothing more are done with the last one', async () => {
    await make({ types: ['records.sealed', 'visitor.erased'] });
    await seal(1);
    await deliverer.wake();
    await Promise.all(await deliverer.begin());
    expect(receiver.received).toHaveLength(1);
    expect(await sql`select from webhook_lanes where due_at < 'infinity' or line is not null`).toHaveLength(0);
  });

  it.each([
    ['when the one before was delivered', 'well'],
    ['until when it was put off without a try', null],
  ] as const)('are made although a clock that was 10 minutes ahead noted %s', async (_, line) => {
    await make();
    await sendNew(1);
    await seal(1);
    await deliverer.wake();
    await sql`
      update webhook_lanes set due_at = due_at + interval '10 minutes', line = ${line && lines[line]}
      where due_at < 'infinity'`;
    await deliver(startDeliverer());
    expect(receiver.received).toHaveLength(2);
  });

  it('are kept for 30 days', async () => {
    const { webhook } = await make();
    await sendNew(1);
    const run = <T>(work: (sql: Sql) => Promise<T>) => db.run(work);
    const grow = (age: string) => db.run((sql) => sql`update webhook_deliveries set at = at - ${age}::interval`);
    await grow('29 days 23 hours');
    expect(await deleteOldDeliveries(run)).toBe(0);
    expect(await tries(webhook)).toHaveLength(1);
    await grow('1 hour');
    // of two clocks the earlier one counts
    expect(await deleteOldDeliveries(run, new Date(Date.now() - 3_600_000))).toBe(0);
    expect(await deleteOldDeliveries(run)).toBe(1);
    expect(await tries(webhook)).toEqual([]);
  });
});
