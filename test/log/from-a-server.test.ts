/** What docs/api.md says of a server that records for its visitors and that no other test shows. */
import { expect, it, onTestFinished } from 'vitest';
import { request, tokenFor } from '../support/client.ts';
import { holdTheMinute } from '../support/clock.ts';
import { useStackWithApi } from '../support/stack.ts';

const limit = 3;
const { api, apiKey, client, domainId, tenant } = await useStackWithApi({
  env: { RECORD_RATE_PER_MINUTE: String(limit) },
});

it('all visitors of a server share the limit of records, in which imports do not count', async () => {
  onTestFinished(holdTheMinute());
  const statuses: number[] = [];
  for (let each = 0; each <= limit; each += 1) {
    const forwarded = { 'x-forwarded-for': `203.0.113.${each}` };
    statuses.push((await client.record(domainId, apiKey, { decision: 'accept_all', source: 'api' }, forwarded)).status);
  }
  expect(statuses).toEqual([...Array(limit).fill(202), 429]);
  const imported = await request(api.baseUrl, `/v1/consent/${domainId}/import`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokenFor(tenant.organizationId, { scope: 'import' })}`,
      'content-type': 'application/x-ndjson',
    },
    body: JSON.stringify({ decision: 'withdraw', decidedAt: new Date().toISOString() }),
  });
  expect(imported.status).toBe(200);
});
