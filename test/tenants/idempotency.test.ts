/** `Idempotency-Key`: a request that is sent again makes nothing twice. */
import { expect, it } from 'vitest';
import type { MadeKey, ManagedDomain } from '#libs/tenants/contract';
import { deleteOldResponses } from '#libs/tenants/idempotency';
import type { MadeWebhook, WebhookSecret } from '#libs/webhooks/contract';
import { createAsk } from '../support/client.ts';
import { untilWaiting } from '../support/lock-waits.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { useStack } from '../support/stack.ts';

const stack = await useStack();
const { organizationId } = stack.tenant;
const domains = '/v1/organization/domains';
const webhooks = '/v1/organization/webhooks';

interface Options {
  body?: object;
  key?: string;
  claims?: object;
  base?: string;
}

const post = <Body>(path: string, { body = {}, key, claims, base = stack.api.baseUrl }: Options) => {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return createAsk(base, organizationId, { scope: 'manage read', ...claims })<Body>('POST', path, { body, headers });
};
const named = async (name: string) => {
  const rows = await stack.sql<{ id: string }>`select id from domains where name = ${name}`;
  return rows.map(({ id }) => id);
};
const made = { name: 'once.example' };

it('the same request gets the same answer, and another one its own', async () => {
  const first = await post<ManagedDomain>(domains, { body: made, key: 'a' });
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
  const again = await post<ManagedDomain>(domains, { body: { origins: undefined, ...made }, key: 'a' });
  expect([again.status, again.body, again.headers.get('etag')]).toEqual([201, first.body, first.headers.get('etag')]);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(await named(made.name)).toEqual([first.body.domainId]);
  const acts = await stack.sql`select from administrative_acts where subject = ${first.body.domainId}`;
  expect(acts).toHaveLength(1);
  expectProblem(await post(domains, { body: { name: 'other.example' }, key: 'a' }), 422, 'idempotency_mismatch');
  // of somebody else, with another key, and without one
  for (const other of [{ claims: { sub: 'somebody' }, key: 'a' }, { key: 'b' }, {}])
    expect((await post(domains, { body: made, ...other })).headers.get('idempotent-replayed')).toBeNull();
  expect(await named(made.name)).toHaveLength(4);
  // nor for another path
  const elsewhere = await post<MadeKey>(`${domains}/${first.body.domainId}/keys`, { body: made, key: 'a' });
  expect([elsewhere.status, elsewhere.body.apiKey]).toEqual([201, expect.any(String)]);
  // rights are looked at each time
  expectProblem(await post(domains, { body: made, key: 'a', claims: { scope: 'read' } }), 403, 'insufficient_scope');
  for (const key of ['', 'x'.repeat(129), 'a b', 'é'])
    expectBlame(await post(domains, { body: made, key }), '/Idempotency-Key');
});

it('what was refused is not kept', async () => {
  expectBlame(await post(domains, { body: { name: '' }, key: 'refused' }), '/name');
  expect((await post(domains, { body: { name: 'refused.example' }, key: 'refused' })).status).toBe(201);
});

it('while the first one is in progress the second is refused', async () => {
  const options = { body: { name: 'slow.example' }, key: 'slow' };
  const first = await stack.db.run((sql) =>
    sql.begin(async (holder) => {
      await holder`lock table domains in exclusive mode`;
      const under = post<ManagedDomain>(domains, options);
      await untilWaiting(stack.sql, '%insert into domains%');
      expectProblem(await post(domains, options), 409, 'in_progress');
      return { under };
    }),
  );
  const { status, body } = await first.under;
  expect([status, (await post<ManagedDomain>(domains, options)).body]).toEqual([201, body]);
});

it('secrets are shown again, and kept encrypted', async () => {
  const keys = `${domains}/${stack.domainId}/keys`;
  const key = await post<MadeKey>(keys, { key: 'k' });
  expect((await post<MadeKey>(keys, { key: 'k' })).body).toEqual(key.body);
  const body = { url: 'https://receiver.example/', types: ['limit.reached'] };
  const webhook = await post<MadeWebhook>(webhooks, { body, key: 'w' });
  expect((await post<MadeWebhook>(webhooks, { body, key: 'w' })).body).toEqual(webhook.body);
  const secrets = `${webhooks}/${webhook.body.webhookId}/secret`;
  const rotated = await post<WebhookSecret>(secrets, { key: 's' });
  expect((await post<WebhookSecret>(secrets, { key: 's' })).body).toEqual(rotated.body);
  expect(rotated.body.secret).not.toBe(webhook.body.secret);
  const kept = await stack.sql<{ text: string }>`select encode(answer, 'escape') as text from idempotent_answers`;
  for (const secret of [key.body.apiKey, webhook.body.secret, rotated.body.secret])
    expect(JSON.stringify(kept)).not.toContain(secret);
  const bare = await startApi({ ...stack.env, SECRETS_KEY: '' });
  expectProblem(await post(keys, { key: 'k', base: bare.baseUrl }), 503, 'not_configured');
  expect((await post(keys, { base: bare.baseUrl })).status).toBe(201);
});

it('after a day it is another request, and nothing is left of the first', async () => {
  const options = { body: { name: 'later.example' }, key: 'later' };
  await post(domains, options);
  // others than that one stay old, until a worker's own hourly round deletes them
  const aged = await stack.sql`update idempotent_answers set made_at = made_at - interval '25 hours'`;
  expect(aged.count).toBeGreaterThan(1);
  expect((await post(domains, options)).headers.get('idempotent-replayed')).toBeNull();
  await deleteOldResponses(stack.db);
  const old = await stack.sql`select from idempotent_answers where made_at < now() - interval '1 day'`;
  expect(old.count).toBe(0);
});
