/** Webhooks over HTTP and the command line, delivered by the real worker. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { persist } from '#libs/record/persist/persist';
import type { DeliveriesPage, MadeWebhook, Webhook, WebhooksPage } from '#libs/webhooks/contract';
import { freePort } from '../../scripts/stack/ports.ts';
import { atEnd } from '../support/at-end.ts';
import { createCli } from '../support/cli.ts';
import { createAsk } from '../support/client.ts';
import { blocksOf } from '../support/documents.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { startReceiver } from '../support/receiver.ts';
import { recordAt } from '../support/records.ts';
import { startApi, startWorker } from '../support/service.ts';
import { at, openStores, sealSettings } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const webhooks = '/v1/organization/webhooks';
const free = { WEBHOOK_ALLOW_PRIVATE: 'true' };

const stores = await openStores();
const { baseUrl } = await startApi({ ...stores.env, ...free });
const tenant = await makeTenant(stores.db, { domains: 2 });
const cli = createCli({ ...stores.env, ...free, SECRETS_KEY: 'fedcba9876543210'.repeat(4) });

interface Options {
  body?: object;
  headers?: Record<string, string>;
  scope?: string;
  of?: Tenant;
}

describe('webhooks', () => {
  const ask = <Body>(method: string, target: string, { scope = 'manage read', of = tenant, ...asked }: Options = {}) =>
    createAsk(baseUrl, of.organizationId, { scope })<Body>(method, webhooks + target, asked);
  const make = async (body: object) => {
    const response = await ask<MadeWebhook>('POST', '', { body });
    expect(response.status).toBe(201);
    return response;
  };
  const store = async (count: number, domainId = at(tenant.domainIds, 0)) => {
    const records = Array.from({ length: count }, () => recordAt(Date.now(), { domainId }));
    await persist(stores.db, records, { owe: true });
    return records.map(({ id }) => id).toSorted();
  };

  it('are made, listed, changed and deleted, each change an act; the secret is shown once', async () => {
    const { body, headers } = await make({ url: 'https://receiver.example', types: ['records.sealed'] });
    const { secret, ...made } = body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made).toMatchObject({
      webhookId: expect.stringMatching(/^wh_/),
      url: 'https://receiver.example/',
      types: ['records.sealed'],
      domains: null,
      decisions: null,
      enabled: true,
      lastDeliveredAt: null,
      failingSince: null,
    });
    const target = `/${made.webhookId}`;
    expect((await ask<Webhook>('GET', target)).body).toEqual(made);
    expect((await ask<WebhooksPage>('GET', '?limit=1')).body).toEqual({ webhooks: [made], nextCursor: null });
    const other = await make({ url: 'https://other.example', types: ['limit.reached'] });
    const first = (await ask<WebhooksPage>('GET', '?limit=1')).body;
    expect(first.webhooks.map(({ webhookId }) => webhookId)).toEqual([other.body.webhookId]);
    expect((await ask<WebhooksPage>('GET', `?cursor=${first.nextCursor}`)).body.webhooks).toEqual([made]);
    const stale = { 'if-match': headers.get('etag') ?? '' };
    const changed = await ask<Webhook>('PATCH', target, { body: { decisions: ['withdraw'] }, headers: stale });
    expect([changed.status, changed.body.decisions]).toEqual([200, ['withdraw']]);
    for (const method of ['PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { body: { enabled: false } } : {};
      expectProblem(await ask(method, target, { ...body, headers: stale }), 412, 'changed_meanwhile');
    }
    expect((await ask('DELETE', target)).status).toBe(200);
    expectProblem(await ask('GET', target), 404, 'webhook_not_found');
    const { acts } = await cli.json<{ acts: { act: string; subject: string; actor: string }[] }>('acts');
    expect(acts.filter(({ subject }) => subject === made.webhookId).map(({ act, actor }) => [act, actor])).toEqual([
      ['webhook.delete', 'tester'],
      ['webhook.update', 'tester'],
      ['webhook.create', 'tester'],
    ]);
    const stored = await stores.db.run((sql) => sql<{ text: string }[]>`select webhooks::text as text from webhooks`);
    const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64').toString('hex');
    expect(JSON.stringify(stored)).not.toContain(bytes);
  });

  it('take an address, headers and a size within their bounds, and show names only', async () => {
    const usual = { url: 'https://receiver.example/', types: ['limit.reached'] };
    const { body } = await make({ ...usual, headers: { Authorization: 'Bearer s3cret' }, maxBytes: 16_384 });
    expect(body).toMatchObject({ headers: ['authorization'], maxBytes: 16_384 });
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`x-${n}`, '1']));
    for (const [fields, ...blamed] of [
      [{ url: 'https://10.1.2.3/' }, '/url'],
      [{ maxBytes: 16_383 }, '/maxBytes'],
      [{ maxBytes: 1_048_577 }, '/maxBytes'],
      [{ headers: many }, '/headers'],
      [{ headers: { 'x-a': 'x'.repeat(4_096) } }, '/headers'],
      [{ headers: { 'X-A': '1', 'x-a': '2' } }, '/headers'],
      ...['Host', 'content-type', 'Connection', 'transfer-encoding', 'webhook-id', 'a b', ''].map(
        (name): [object, string] => [{ headers: { [name]: '1' } }, `/headers/${name}`],
      ),
      ...['a\r\nx-b: 1', 'é', ' a', ''].map((value): [object, string] => [
        { headers: { 'x-a': value } },
        '/headers/x-a',
      ]),
    ] as [object, string][])
      expectBlame(await ask('POST', '', { body: { ...usual, ...fields } }), ...blamed);
  });

  it('are checked in the order of the contract', async () => {
    const url = 'https://receiver.example/';
    const sealed = { url, types: ['records.sealed'] };
    for (const each of [url, 'http://[::1]'])
      expectProblem(
        await ask('POST', '', { body: { ...sealed, url: each }, scope: 'manage' }),
        403,
        'insufficient_scope',
      );
    expect((await ask('POST', '', { body: { url, types: ['visitor.erased'] }, scope: 'manage' })).status).toBe(201);
    expectBlame(
      await ask('POST', '', { body: { url, types: [], domains: ['!'], more: 1 } }),
      '/types',
      '/domains/0',
      '/more',
    );
    expectProblem(await ask('POST', '', { body: { ...sealed, domains: ['dom_unknown'] } }), 404, 'domain_not_found');
    const others = await makeTenant(stores.db, { consentLog: false });
    const foreign = { ...sealed, domains: [at(others.domainIds, 0)] };
    expectProblem(await ask('POST', '', { body: foreign }), 404, 'domain_not_found');
    expectProblem(await ask('POST', '', { body: sealed, of: others }), 403, 'plan_feature_required');
    const replay = { domainId: at(tenant.domainIds, 0), from: 0 };
    expectProblem(await ask('POST', '/wh_x/replay', { body: replay, scope: 'manage' }), 403, 'insufficient_scope');
    expectProblem(await ask('POST', '/wh_x/replay', { body: { ...replay, domainId: 'x' } }), 404, 'domain_not_found');
    expectProblem(await ask('POST', '/wh_x/replay', { body: replay }), 404, 'webhook_not_found');
    const { body: made } = await make(sealed);
    expectBlame(await ask('POST', `/${made.webhookId}/replay`, { body: { ...replay, from: 999 } }), '/from');
  });

  it('can be switched off, but not on again, without a plan that has the log', async () => {
    const of = await makeTenant(stores.db);
    const body = { url: 'https://receiver.example/', types: ['records.sealed'] };
    const { webhookId } = (await ask<MadeWebhook>('POST', '', { body, of })).body;
    await stores.sql`
      update plans set consent_log = false where name = (select plan from organizations where id = ${of.organizationId})`;
    // by a read, since a webhook that is made each time meets the quota on a slow machine
    const read = () =>
      createAsk(baseUrl, of.organizationId, { scope: 'read' })('GET', `/v1/consent/${at(of.domainIds, 0)}/records`);
    await eventually(async () => expectProblem(await read(), 403, 'plan_feature_required'));
    expectProblem(await ask('POST', '', { body, of }), 403, 'plan_feature_required');
    const set = (enabled: boolean) => ask<Webhook>('PATCH', `/${webhookId}`, { body: { enabled }, of });
    expect(await set(false)).toMatchObject({ status: 200, body: { enabled: false } });
    expectProblem(await set(true), 403, 'plan_feature_required');
  });

  it('get a message from a worker when a domain is silent', async () => {
    const of = await makeTenant(stores.db);
    const receiver = await startReceiver();
    await ask('POST', '', { body: { url: receiver.url, types: ['domain.silent'] }, of });
    const hour = 60 * 60 * 1_000;
    const last = Date.now() - 25 * hour;
    const domainId = at(of.domainIds, 0);
    const records = Array.from({ length: 28 * 10 }, (_, each) =>
      recordAt(last - Math.floor(each / 10) * 24 * hour, { domainId }),
    );
    await persist(stores.db, records, { owe: true });
    await startWorker({ ...stores.env, ...sealSettings, ...free });
    const [told] = await receiver.until(1);
    const data = { domainId, lastRecordAt: new Date(last).toISOString() };
    expect(told?.message).toMatchObject({ type: 'domain.silent', data });
  });

  it('are delivered by a worker and listed, and sent again to the receiver of the page, which takes what is signed', async () => {
    const receiver = await startReceiver();
    const domainId = at(tenant.domainIds, 1);
    const usual = { types: ['records.sealed'], domains: [domainId] };
    const { body: made } = await make({ ...usual, url: receiver.url });
    const page = await runPage(made.secret);
    const { body: other } = await make({ ...usual, url: page.url });
    const worker = await startWorker({ ...stores.env, ...sealSettings, ...free });
    expect(worker.events('webhooks_private')).toHaveLength(1);
    const ids = await store(20, domainId);
    const newest = async ({ webhookId }: Webhook) =>
      (await ask<DeliveriesPage>('GET', `/${webhookId}/deliveries?limit=1`)).body.deliveries;
    // stored once the receiver has responded
    await eventually(async () =>
      expect(await newest(made)).toMatchObject([{ outcome: 'delivered', domainId, first: 0, size: ids.length }]),
    );
    expect(receiver.received).toHaveLength(1);
    expect(JSON.stringify(await newest(made))).not.toContain(at(ids, 0));
    // it was not made with that secret
    await eventually(async () => expect(await newest(other)).toMatchObject([{ outcome: 'failed', status: 400 }]));
    expect(await ask('POST', `/${other.webhookId}/retry`)).toMatchObject({
      status: 202,
      body: { webhookId: other.webhookId, messages: expect.any(Number) },
    });
    await ask('PATCH', `/${made.webhookId}`, { body: { url: page.url } });
    const replay = { domainId, from: 10 };
    expect((await ask('POST', `/${made.webhookId}/replay`, { body: replay })).body).toMatchObject({ log: 1, size: 20 });
    const wanted = Array.from({ length: 10 }, (_, each) => `${domainId} 1 ${10 + each} record`);
    await eventually(async () => expect(await page.lines()).toEqual(wanted));
  });

  it('are deleted in small statements, however many deliveries there were', async () => {
    const { body } = await make({ url: 'https://receiver.example', types: ['records.sealed'] });
    await stores.db.run(async (sql) => {
      await sql`
        insert into webhook_deliveries (webhook, message_id, type, attempt, at, milliseconds)
        select number, 'msg_' || n, 'webhook.test', 1, now(), 1 from webhooks, generate_series(1, 12000) as n
        where id = ${body.webhookId}`;
      await sql`
        create function refuse_many() returns trigger language plpgsql as $$
        begin
          if (select count(*) from gone) > 5000 then raise 'too many at once' using errcode = '57014'; end if;
          return null;
        end $$`;
      await sql`
        create trigger refuse_many after delete on webhook_deliveries referencing old table as gone
        for each statement execute function refuse_many()`;
    });
    const { status } = await ask('DELETE', `/${body.webhookId}`);
    await stores.db.run((sql) => sql`drop trigger refuse_many on webhook_deliveries`);
    expect(status).toBe(200);
  });

  it('have the same verbs on the command line', async () => {
    const receiver = await startReceiver();
    const { organizationId, domainIds } = await makeTenant(stores.db);
    const domainId = at(domainIds, 0);
    const made = await cli.json<MadeWebhook>('webhook', 'create', organizationId, receiver.url);
    const { webhookId } = made;
    expect(made.secret).toMatch(/^whsec_/);
    const set = (...args: string[]) => cli.json<object>('webhook', 'set', webhookId, ...args);
    const some = { domains: [domainId], decisions: ['withdraw'] };
    expect(await set('--domain', domainId, '--decision', 'withdraw')).toMatchObject(some);
    for (const both of [['--all-domains', '--domain', domainId], ['--all-decisions', '--decision', 'withdraw'], []]) {
      expect(await cli.error('webhook', 'set', webhookId, ...both)).toMatch(/^(give either|say what to change)/);
    }
    expect(await set('--all-domains', '--all-decisions')).toMatchObject({ domains: null, decisions: null });
    expect(await cli.json('webhook', 'show', webhookId)).toMatchObject({ webhookId, enabled: true });
    expect(await cli.json('webhook', 'list', '--org', organizationId)).toMatchObject({ webhooks: [{ webhookId }] });
    const { messageId } = await cli.json<{ messageId: string }>('webhook', 'test', webhookId);
    await receiver.until(1);
    expect(at(receiver.received, 0).headers['webhook-id']).toBe(messageId);
    const tried = { deliveries: [{ messageId, status: 204 }] };
    await eventually(async () => expect(await cli.json('webhook', 'deliveries', webhookId)).toMatchObject(tried));
    expect((await cli.json<{ secret: string }>('webhook', 'rotate', webhookId)).secret).not.toBe(made.secret);
    const replay = (from: string) => ['webhook', 'replay', webhookId, domainId, '--from', from];
    expect(await cli.error(...replay('1'))).toMatch(/has no position 1/);
    await set('--type', 'visitor.erased');
    expect(await cli.error(...replay('0'))).toMatch(/receives no records/);
    expect(await cli.error('webhook', 'create', organizationId, 'https://10.0.0.1/')).toMatch(/private address/);
    expect(await cli.error('webhook', 'list')).toBe('give either --org or --failing');
    await stores.db.run((sql) => sql`update webhooks set failing_since = to_timestamp(9) where id = ${webhookId}`);
    const { webhooks: failing } = await cli.json<{ webhooks: object[] }>('webhook', 'list', '--failing');
    expect(failing[0]).toMatchObject({ webhookId, organizationId, failingSince: '1970-01-01T00:00:09.000Z' });
    expect(await cli.json('webhook', 'delete', webhookId)).toEqual({ webhookId, deleted: true });
    expect(await cli.error('webhook', 'show', webhookId)).toBe(`no webhook ${webhookId}`);
  });
});

/** The receiver of docs/webhooks.md. */
async function runPage(secret: string) {
  const [block] = blocksOf('docs/webhooks.md').filter(({ language }) => language === 'mjs');
  const program = block?.text ?? expect.fail('the page has no receiver');
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(20);
  const file = path.join(mkdtempSync(path.join(inject('folder'), 'receiver-')), 'receiver.mjs');
  writeFileSync(file, program);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const child = spawn(process.execPath, [file], {
      env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret, PORT: String(port) },
    });
    atEnd(() => void child.kill());
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += String(chunk);
    });
    const listens = await eventually(async () => {
      // another process may have been quicker
      if (child.exitCode !== null) return false;
      await fetch(url, { method: 'POST' });
      return true;
    });
    if (listens) return { url, lines: async () => text.split('\n').filter((line) => line !== '') };
    if (attempt === 3) throw new Error(`the receiver ended: ${text}`);
  }
}
