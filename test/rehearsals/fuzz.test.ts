import { beforeAll, describe, expect, it } from 'vitest';
import type { FeedEntry } from '#libs/log/contract';
import type { MadeWebhook, WebhooksPage } from '#libs/webhooks/contract';
import { accountSettings, fuzz, prepare, prepared, record, waitForTotal } from '../../scripts/fuzz/run.ts';
import { tokenFor } from '../support/client.ts';
import { createLogReader, crypto } from '../support/log-reader.ts';
import { verifyTlogProof } from '../support/proof-checks.ts';
import { startReceiver } from '../support/receiver.ts';
import { startApi, startWorker, startWorkerProcess } from '../support/service.ts';
import { sealSettings, startProcesses } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

/** `npm run fuzz` sends twenty times as many. */
const requests = 1_000;

const stack = await startProcesses({ worker: false, sealed: true, env: accountSettings });
// without a key it sends nothing to webhooks
await startWorkerProcess({ ...stack.env, ...sealSettings, SECRETS_KEY: '' });
const token = tokenFor(stack.tenant.organizationId, { scope: 'read privacy import' });
const webhooksToken = tokenFor(stack.tenant.organizationId, { scope: 'read manage' });
const { domainId, apiKey } = stack;
const site = { baseUrl: stack.api.baseUrl, domainId, apiKey, token, webhooksToken };
const known = await prepare(site);
const proof = `/v1/consent/${domainId}/records/${known.recordIds[0]}/proof`;
await eventually(async () => expect((await stack.client.get(proof)).status).toBe(200));
let outcome: Awaited<ReturnType<typeof fuzz>>;

// what stands at the top of a file has five minutes, which a slow machine needs for less
beforeAll(async () => {
  outcome = await fuzz({ ...stack.api, known }, { requests });
}, 900_000);

describe(`after ${requests} requests that are valid, nearly so, or hostile`, () => {
  it('every answer was one that the document describes, and there were answers of every kind', () => {
    expect(outcome.requests).toBe(requests);
    // 201, of a valid webhook, comes about twice in so many requests
    const kinds = ['200', '202', '400', '401', '404', '405', '413', '415'];
    expect(Object.keys(outcome.statuses)).toEqual(expect.arrayContaining(kinds));
  });

  it('what was acknowledged is there, once, and nothing else is', async () => {
    expect(outcome.recorded.size).toBeGreaterThan(0);
    expect(await waitForTotal(site, outcome.recorded.size + outcome.imported + prepared)).toBe(true);
  });

  const all = () => outcome.recorded.size + outcome.imported + prepared;
  const { organizationId } = stack.tenant;
  const asking = (method: string, path: string, body?: unknown, type = 'application/json') =>
    fetch(stack.api.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${tokenFor(organizationId, { scope: 'read import manage' })}`,
        ...(body !== undefined && { 'content-type': type }),
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });

  it('each record can be read, alone and in pages, and has a proof that holds', async () => {
    const log = createLogReader(stack.api.baseUrl, organizationId, domainId);
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await stack.client.records(domainId, `limit=200${cursor && `&cursor=${cursor}`}`);
      ids.push(...body.records.map(({ id }) => id));
      cursor = body.nextCursor;
    }
    expect(ids).toHaveLength(all());
    const keys = await log.keys();
    for (const id of ids) {
      const [record, file] = [await log.get(`records/${id}`), await eventually(() => log.ok(`records/${id}/proof`))];
      expect([id, record.status, verifyTlogProof(file.bytes, keys, crypto)]).toMatchObject([id, 200, { holds: true }]);
    }
  });

  it.each([
    ['ndjson', 'application/x-ndjson'],
    ['csv', 'text/csv'],
  ])('an export in %s has all of them, as an import reads it', async (format, type) => {
    const exported = await (await asking('GET', `/v1/consent/${domainId}/export?format=${format}`)).text();
    const again = await asking('POST', `/v1/consent/${domainId}/import?dryRun=true`, exported, type);
    expect([again.status, await again.json()]).toMatchObject([200, { read: all(), known: all(), rejected: 0 }]);
  });

  it('a webhook gets all of them', async () => {
    const webhooks = '/v1/organization/webhooks';
    // what was made up leads to who knows where
    for (;;) {
      const { webhooks: made } = (await (await asking('GET', webhooks)).json()) as WebhooksPage;
      for (const { webhookId } of made) await asking('DELETE', `${webhooks}/${webhookId}`);
      if (made.length === 0) break;
    }
    const env = { ...stack.env, ...sealSettings, WEBHOOK_ALLOW_PRIVATE: 'true' };
    const [{ baseUrl }] = await Promise.all([startApi(env), startWorker(env)]);
    const receiver = await startReceiver();
    const headers = { authorization: `Bearer ${webhooksToken}`, 'content-type': 'application/json' };
    const send = async (path: string, body: object): Promise<unknown> =>
      (await fetch(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    const made = (await send(webhooks, { url: receiver.url, types: ['records.sealed'] })) as MadeWebhook;
    await send(`${webhooks}/${made.webhookId}/replay`, { domainId, from: 0 });
    await eventually(() => {
      const entries = receiver.received.flatMap(({ message }) => message.data.entries as FeedEntry[]);
      const ids = new Set(entries.flatMap((entry) => (entry.type === 'record' ? [entry.record.id] : [])));
      expect(ids.size).toBe(all());
    });
  });

  it('the service works as before, and saw nothing that it did not foresee', async () => {
    expect(await record(site)).toBe(202);
    expect(stack.api.process.running()).toBe(true);
    expect([...stack.api.events('bug'), ...stack.api.events('response_failed')]).toEqual([]);
  });
});
