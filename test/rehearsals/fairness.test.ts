/**
 * Three organizations at their worst at once, and a fourth: each thing that it does takes at most twice as long as alone, on
 * the same machine and in the same run. Its times are medians of many rounds, alone before and after the others. These leave
 * processors idle, which have no shares.
 * `test/sharing/fairness.test.ts` counts whose turn it is instead.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '#libs/base/secret-box';
import { persist } from '#libs/record/persist/persist';
import { createWebhookAdministration } from '#libs/webhooks/administration';
import { atEnd } from '../support/at-end.ts';
import { tokenFor } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { recordAt } from '../support/records.ts';
import { startApiProcess, startWorkerProcess } from '../support/service.ts';
import { secretsKey } from '../support/settings.ts';
import { at, openStores, sealSettings } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const rounds = 15;
/** Milliseconds that count as no difference. */
const none = 50;
/** what each of the three holds */
const large = { domains: 3_000, tokens: 3_000, records: 4_000, webhooks: 40 };

const { db, sql, env: stores } = await openStores();
const env = { ...stores, ...sealSettings, WEBHOOK_ALLOW_PRIVATE: 'true', RECORD_RATE_PER_MINUTE: '600' };
const [{ baseUrl }] = await Promise.all([startApiProcess(env), startWorkerProcess(env)]);
const [silent, own] = [await startReceiver(), await startReceiver()];
silent.answerWith(() => {});

const [webhooks, box] = [createWebhookAdministration(db, 'test'), createSecretBox(Buffer.from(secretsKey, 'hex'))];
const makeWebhook = async ({ organizationId }: Tenant, url: string) =>
  (await webhooks.create(organizationId, { url, types: ['limit.reached'], domains: null, decisions: null }, box))
    .webhook.webhookId;
const store = async ({ domainIds: [domainId = ''] }: Tenant, count: number) => {
  for (let first = 0; first < count; first += 1_000)
    await persist(
      db,
      Array.from({ length: Math.min(1_000, count - first) }, (_, n) => recordAt(Date.now() - first - n, { domainId })),
      { owe: true },
    );
};
const tokenOf = ({ organizationId }: Tenant) =>
  tokenFor(organizationId, { scope: 'read manage import', exp: Math.floor(Date.now() / 1_000) + 3_600, jti: 'mine' });

const makeWorst = async () => {
  const tenant = await makeTenant(db);
  const { organizationId } = tenant;
  const [domainId, key] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
  await sql`
    insert into domains (id, organization_id, name)
    select ${`${domainId}-`} || n, ${organizationId}, 'site-' || n || '.example'
    from generate_series(1, ${large.domains}) as n`;
  await sql`
    insert into revoked_tokens (organization_number, jti)
    select number, gen_random_uuid()::text from organizations, generate_series(1, ${large.tokens})
    where id = ${organizationId}`;
  await store(tenant, large.records);
  const ids: string[] = [];
  for (let count = 0; count < large.webhooks; count += 1) ids.push(await makeWebhook(tenant, silent.url));
  const otherDomains = Array.from({ length: 100 }, (_, n) => `${domainId}-${n + 1}`);
  return { token: tokenOf(tenant), domainId, otherDomains, key, webhooks: ids };
};

const fourth = await makeTenant(db);
await store(fourth, 2_000);
const webhookId = await makeWebhook(fourth, own.url);
const worst = await Promise.all([makeWorst(), makeWorst(), makeWorst()]);

/** All three, until they are told to end. Resolves once each kind of request has succeeded. */
async function beginWorst() {
  const program = path.resolve(import.meta.dirname, '../support/worst-tenants.mjs');
  const child = spawn(process.execPath, [program, JSON.stringify({ baseUrl, organizations: worst })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const end = async () => {
    child.kill();
    await exited;
  };
  atEnd(end);
  let done: Record<string, number> = {};
  createInterface(child.stdout).on('line', (line) => {
    done = JSON.parse(line);
  });
  const kinds = ['exports', 'imports', 'names', 'reads', 'records', 'tests'];
  await eventually(() => expect(Object.keys(done).toSorted()).toEqual(kinds));
  return { end };
}

describe('beside three organizations at their worst', () => {
  const domain = `/v1/consent/${at(fourth.domainIds, 0)}`;
  const authorization = `Bearer ${tokenOf(fourth)}`;
  let imports = 0;
  const ask = async (
    status: number,
    method: string,
    asked: string,
    headers: Record<string, string> = {},
    body = '',
  ) => {
    const answer = await fetch(baseUrl + asked, {
      method,
      headers: { authorization, ...headers },
      ...(body && { body }),
    });
    await answer.arrayBuffer();
    expect([asked, answer.status]).toEqual([asked, status]);
  };
  const today = new Date().toISOString().slice(0, 10);
  const tasks: Record<string, () => Promise<unknown>> = {
    statistics: () => ask(200, 'GET', `${domain}/stats?from=${today}&to=${today}`),
    'a page of the log': () => ask(200, 'GET', `${domain}/records?limit=50`),
    'the organization': () => ask(200, 'GET', '/v1/organization'),
    'a record': () =>
      ask(
        202,
        'POST',
        `${domain}/record`,
        { 'x-api-key': at(fourth.apiKeys, 0), 'content-type': 'application/json' },
        '{"decision":"custom"}',
      ),
    'an import': () => {
      imports += 1;
      const rows = Array.from({ length: 500 }, (_, row) =>
        JSON.stringify({ decision: 'custom', decidedAt: '2024-02-29T00:00:00Z', externalId: `${imports}-${row}` }),
      ).join('\n');
      return ask(200, 'POST', `${domain}/import?format=ndjson`, { 'content-type': 'application/x-ndjson' }, rows);
    },
    'an export': () => ask(200, 'GET', `${domain}/export?decision=accept_all`, { 'accept-encoding': 'identity' }),
    'a message to a webhook': async () => {
      const before = own.received.length;
      await ask(202, 'POST', `/v1/organization/webhooks/${webhookId}/test`);
      await eventually(() => expect(own.received.length).toBeGreaterThan(before), { every: 5 });
    },
  };
  const measure = async () => {
    const times = Object.fromEntries(Object.keys(tasks).map((name): [string, number[]] => [name, []]));
    for (let round = 0; round < rounds; round += 1)
      for (const [name, task] of Object.entries(tasks)) {
        const began = performance.now();
        await task();
        times[name]?.push(performance.now() - began);
      }
    return times;
  };
  const median = (times: number[]) => Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0);

  it('all that a fourth does takes at most twice as long as alone', async () => {
    // what is done for the first time takes longer
    for (const task of Object.values(tasks)) await task();
    const before = await measure();
    const others = await beginWorst();
    const beside = await measure();
    expect(silent.received.length).toBeGreaterThan(0);
    await others.end();
    const after = await measure();
    const figures = Object.keys(tasks).map((name) => ({
      name,
      alone: median([...(before[name] ?? []), ...(after[name] ?? [])]),
      beside: median(beside[name] ?? []),
    }));
    console.table(figures);
    const late = figures.filter((each) => each.beside > 2 * each.alone && each.beside - each.alone > none);
    expect(late).toEqual([]);
  });
});
