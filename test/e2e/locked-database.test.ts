import { beforeAll, describe, expect, it } from 'vitest';
import { persist } from '#libs/store/records/persist';
import { expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { type OwnStack, startStack } from '../support/stack.ts';

describe('a table that somebody has locked', () => {
  let stack: OwnStack;

  beforeAll(async () => {
    stack = await startStack({ worker: false });
  });

  it('makes what needs it unavailable in time, and nothing else', async () => {
    // where there is nothing to read, no read waits
    await persist(stack.db, [recordAt(Date.now(), { domainId: stack.domainId })]);
    expect((await stack.client.records(stack.domainId)).status).toBe(200);
    await stack.db.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`lock table records in access exclusive mode`;
        const started = performance.now();
        const answers = await Promise.all([stack.client.records(stack.domainId), stack.client.orgStats()]);
        for (const answer of answers) {
          expectProblem(answer, 503, 'unavailable');
          expect(answer.headers.get('retry-after')).toBe('1');
        }
        expect(performance.now() - started).toBeLessThan(9_000);
        expect((await stack.client.organization()).status).toBe(200);
        expect((await stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' })).status).toBe(202);
      }),
    );
    expect((await stack.client.records(stack.domainId)).status).toBe(200);
  });
});
