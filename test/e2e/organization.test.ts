import { beforeAll, describe, expect, it } from 'vitest';
import { monthOf } from '#libs/contract/calendar';
import { createAdministration } from '#libs/store/tenants/administration';
import { type Stack, useStack } from '../support/stack.ts';
import { eventually, withinASecond } from '../support/wait.ts';

describe('the organization', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStack({ tenant: { domains: 2, monthlyRecordLimit: 100 } });
  });

  it('shows its name, plan, usage and domains', async () => {
    const { body, headers } = await stack.client.organization();
    expect(body).toEqual({
      organizationId: stack.tenant.organizationId,
      name: expect.stringMatching(/^Organization /),
      plan: { name: expect.stringMatching(/^plan-/), consentLog: true, monthlyRecordLimit: 100 },
      usage: { month: monthOf(Date.now()), used: 0, limit: 100 },
      domains: stack.tenant.domainIds.map((domainId, index) => ({ domainId, name: `site-${index}.example` })),
      scopes: ['read'],
    });
    expect(['redis', 'postgres']).toContain(headers.get('x-stats-source'));
  });

  it('counts what was recorded this month', async () => {
    await stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' });
    await eventually(async () => expect((await stack.client.organization()).body.usage.used).toBe(1));
  });

  it('has a new domain, and its records, within a second', async () => {
    const admin = createAdministration(stack.db, 'test');
    const { domainId } = await admin.createDomain(stack.tenant.organizationId, { name: 'new.example', origins: [] });
    await eventually(async () => {
      const { body } = await stack.client.organization();
      expect(body.domains).toContainEqual({ domainId, name: 'new.example' });
      expect((await stack.client.records(domainId)).status).toBe(200);
    }, withinASecond);
  });
});
