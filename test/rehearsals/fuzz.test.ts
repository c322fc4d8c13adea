import { describe, expect, it } from 'vitest';
import { prepare, prepared, record, waitForTotal } from '../../scripts/fuzz/prepare.ts';
import { fuzz } from '../../scripts/fuzz/run.ts';
import { tokenFor } from '../support/client.ts';
import { startWorkerProcess } from '../support/service.ts';
import { sealSettings, startProcesses } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

/** `npm run fuzz` sends twenty times as many. */
const requests = 1_000;

const stack = await startProcesses({ worker: false, sealed: true });
// without a key it sends nothing to webhooks
await startWorkerProcess({ ...stack.env, ...sealSettings, SECRETS_KEY: '' });
const token = tokenFor(stack.tenant.organizationId, { scope: 'read privacy import' });
const webhooksToken = tokenFor(stack.tenant.organizationId, { scope: 'read manage' });
const { domainId, apiKey } = stack;
const site = { baseUrl: stack.api.baseUrl, domainId, apiKey, token, webhooksToken };
const known = await prepare(site);
const proof = `/v1/consent/${domainId}/records/${known.recordIds[0]}/proof`;
await eventually(async () => expect((await stack.client.get(proof)).status).toBe(200), { within: 20_000 });
const outcome = await fuzz({ ...stack.api, known }, { requests });

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

  it('the service works as before, and saw nothing that it did not foresee', async () => {
    expect(await record(site)).toBe(202);
    expect(stack.api.process.running()).toBe(true);
    expect([...stack.api.events('bug'), ...stack.api.events('response_failed')]).toEqual([]);
  });
});
