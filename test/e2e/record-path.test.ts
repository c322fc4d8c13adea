import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/contract/calendar';
import { decisions } from '#libs/contract/terms';
import type { Client } from '../support/client.ts';
import { makeId } from '../support/ids.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

describe('the whole path, with real processes', () => {
  let client: Client;
  let domainId: string;
  let apiKey: string;
  const today = dayOf(Date.now());
  const range = `from=${today}&to=${addDays(today, 1)}`;

  beforeAll(async () => {
    ({ client, domainId, apiKey } = await useStack());
  });

  it('a decision of each kind is in records, stats and org-stats', async () => {
    for (const decision of decisions) {
      const { status, body } = await client.record(domainId, apiKey, { decision });
      expect(status).toBe(202);
      expect(body.status).toMatch(/^(queued|persisted)$/);
    }
    await eventually(async () => {
      const { body } = await client.records(domainId);
      expect(body.records.map((record) => record.decision)).toEqual([...decisions].reverse());
    });
    const once = { accept_all: 1, reject_all: 1, custom: 1, withdraw: 1 };
    await eventually(async () => {
      const { body, headers } = await client.stats(domainId, range);
      expect(headers.get('x-stats-source')).toBe('redis');
      expect(body.breakdown).toEqual(once);
    });
    const { body } = await client.orgStats();
    expect(body).toMatchObject({ total: 4, breakdown: once, recordsTotal: 4 });
  });

  it('fifty concurrent posts of one id are one record and one count', async () => {
    const id = makeId();
    const before = await client.stats(domainId, range);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => client.record(domainId, apiKey, { decision: 'accept_all', id })),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`))).toEqual(new Set([`202 ${id}`]));
    // a later record is stored after all of them
    const last = makeId();
    await client.record(domainId, apiKey, { decision: 'custom', id: last });
    await eventually(async () => {
      const { body } = await client.records(domainId);
      expect(body.records[0]?.id).toBe(last);
      expect(body.records.filter((record) => record.id === id)).toHaveLength(1);
    });
    await eventually(async () => {
      const after = await client.stats(domainId, range);
      expect(after.body.total).toBe(before.body.total + 2);
    });
  });
});
