import { beforeAll, describe, expect, it } from 'vitest';
import { type Administration, createAdministration } from '#libs/store/tenants/administration';
import { createClient } from '../support/client.ts';
import { expectProblem, indistinguishable } from '../support/problems.ts';
import { startApi } from '../support/service.ts';
import { at, type Stack, useStack } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually, withinASecond } from '../support/wait.ts';

const unknownKey = `ak_${'x'.repeat(32)}`;
const decided = { decision: 'accept_all' };

describe('an API key', () => {
  let stack: Stack;
  let admin: Administration;
  let stranger: Tenant;

  beforeAll(async () => {
    stack = await useStack({ tenant: { domains: 2 } });
    admin = createAdministration(stack.db, 'test');
    stranger = await makeTenant(stack.db);
  });

  const record = (domainId: string, apiKey: string, headers: Record<string, string> = {}) =>
    stack.client.record(domainId, apiKey, decided, headers);

  it('that is wrong in any way gets one answer, which does not tell in which', async () => {
    const { domainId, apiKey } = stack;
    const revoked = (await admin.createKey(domainId)).apiKey;
    await admin.revokeKey(domainId, revoked);
    const attempts: [string, string][] = [
      [domainId, ''],
      [domainId, 'x'],
      [domainId, 'ak_short'],
      [domainId, `${apiKey}x`],
      [domainId, apiKey.toUpperCase()],
      [domainId, `${apiKey}, ${apiKey}`],
      [domainId, unknownKey],
      [domainId, 'ak_\u00e9'.padEnd(35, 'x')],
      [domainId, revoked],
      [domainId, at(stack.tenant.apiKeys, 1)],
      [domainId, at(stranger.apiKeys, 0)],
      [at(stranger.domainIds, 0), apiKey],
      ['dom_unknown', apiKey],
      ['dom_unknown', unknownKey],
      ['not%20a%20domain', apiKey],
      ['%00', apiKey],
      ['x'.repeat(65), apiKey],
    ];
    const answers = [];
    for (const [domain, key] of attempts) {
      const answer = await record(domain, key, { 'x-request-id': 'same' });
      expectProblem(answer, 401, 'invalid_api_key');
      answers.push(indistinguishable(answer));
    }
    expect(new Set(answers).size).toBe(1);
    expect((await record(domainId, apiKey)).status).toBe(202);
  });

  it('is not asked for in the query', async () => {
    expectProblem(await record(`${stack.domainId}/record?x-api-key=${stack.apiKey}#`, ''), 401, 'invalid_api_key');
  });

  it('works beside another one of the same domain, so that keys rotate without a gap', async () => {
    const { domainId, apiKey } = await admin.createKey(stack.domainId);
    expect((await record(domainId, apiKey)).status).toBe(202);
    expect((await record(domainId, stack.apiKey)).status).toBe(202);
    await admin.revokeKey(domainId, apiKey);
    await eventually(async () => expect((await record(domainId, apiKey)).status).toBe(401));
    expect((await record(domainId, stack.apiKey)).status).toBe(202);
  });

  it('works as soon as it is made, also where it was tried before', async () => {
    const { domainId } = await admin.createDomain(stack.tenant.organizationId, { name: 'new.example', origins: [] });
    expect((await record(domainId, unknownKey)).status).toBe(401);
    const { apiKey } = await admin.createKey(domainId);
    expect((await record(domainId, apiKey)).status).toBe(202);
  });

  it('that is revoked stops within a second in every API process', async () => {
    const second = await startApi(stack.env);
    const clients = [stack.client, createClient(second.baseUrl, stack.tenant)];
    const { domainId, apiKey } = await admin.createKey(stack.domainId);
    const statuses = () =>
      Promise.all(clients.map(async (client) => (await client.record(domainId, apiKey, decided)).status));
    expect(await statuses()).toEqual([202, 202]);
    await admin.revokeKey(domainId, apiKey);
    await eventually(async () => expect(await statuses()).toEqual([401, 401]), withinASecond);
  });
});
