/** The feed: whoever follows it has every entry of a log once, in its order. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Feed, FeedEntry } from '#libs/contract/responses';
import { addErasures } from '#libs/store/logs/erasures';
import { persist } from '#libs/store/records/persist';
import { createCli } from '../support/cli.ts';
import { createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, logName, type Sealer } from '../support/sealing.ts';
import { at, type OwnStack, startStack } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';

const now = Date.now();
const notice = 'ab'.repeat(32);

describe('GET /v1/consent/:domainId/feed', () => {
  let stack: OwnStack;
  let sealer: Sealer;

  beforeAll(async () => {
    stack = await startStack({ worker: false, tenant: { domains: 5 } });
    sealer = createSealer(stack.db, await openRedis(stack.redis.url));
  }, 60_000);

  const domain = (index: number) => at(stack.tenant.domainIds, index);
  const ask = <Body = ProblemAnswer>(domainId: string, query = '', organizationId = stack.tenant.organizationId) =>
    request<Body>(stack.api.baseUrl, `/v1/consent/${domainId}/feed${query}`, {
      headers: { authorization: `Bearer ${tokenFor(organizationId)}` },
    });
  const store = async (domainId: string, count: number, fields = {}) => {
    const records = Array.from({ length: count }, (_, each) =>
      recordAt(now - each * 7, { domainId, visitorId: `visitor ${each}`, ...fields }),
    );
    await persist(stack.db, records, { owe: true });
    return records.map(({ id }) => id).toSorted();
  };
  const erase = (domainId: string, ids: string[]) =>
    stack.db.run(async (sql) => {
      const rows = await sql<{ id: string; epoch: number; domainNumber: number }[]>`
        select id, epoch, domain_number as "domainNumber" from records
        where domain_number = (select number from domains where id = ${domainId}) and id::text = any(${ids})`;
      await addErasures(
        sql,
        rows.map((row) => ({ ...row, erasedOn: '2026-11-22' })),
      );
    });
  /** As a reader does that keeps `next`. */
  const follow = async (
    domainId: string,
    from: number,
    limit: number,
  ): Promise<{ entries: FeedEntry[]; next: number }> => {
    const entries: FeedEntry[] = [];
    for (let next = from; ; ) {
      const { status, body } = await ask<Feed>(domainId, `?from=${next}&limit=${limit}`);
      expect(status).toBe(200);
      entries.push(...body.entries);
      if (body.entries.length === 0) return { entries, next };
      next = body.next;
    }
  };

  it('gives notices, records as the log page has them, and erasures, in pages without gaps', async () => {
    const first = await store(domain(0), 300, { notice });
    await sealer.closeAndSeal();
    const { entries: before, next } = await follow(domain(0), 0, 128);
    await erase(domain(0), [at(first, 10)]);
    const second = await store(domain(0), 3);
    await sealer.closeAndSeal();
    const after = await follow(domain(0), next, 2);
    const entries = [...before, ...after.entries];
    expect(entries.map(({ position }) => position)).toEqual(Array.from({ length: 305 }, (_, each) => each));
    expect(at(entries, 0)).toEqual({ position: 0, type: 'notice', notice });
    expect(at(entries, 304)).toEqual({ position: 304, type: 'erasure', recordId: at(first, 10), erases: 11 });
    const records = entries.flatMap((entry) => (entry.type === 'record' ? [entry.record] : []));
    expect(records.map(({ id }) => id)).toEqual([...first, ...second]);
    const client = createClient(stack.api.baseUrl, stack.tenant);
    const { body: page } = await client.records(domain(0));
    const fed = new Map(records.map((record) => [record.id, record]));
    for (const record of page.records) expect(fed.get(record.id)).toEqual(record);
    expect(after.next).toBe(305);
  });

  it('is empty before anything is sealed, and shows only what a checkpoint covers', async () => {
    await store(domain(1), 2);
    expect((await ask<Feed>(domain(1))).body).toEqual({ log: 1, entries: [], next: 0, size: 0 });
    await sealer.closeAndSeal();
    await stack.db.run(
      (sql) => sql`
        update logs set checkpoint_size = 1
        where domain_number = (select number from domains where id = ${domain(1)})`,
    );
    expect((await ask<Feed>(domain(1))).body).toMatchObject({ next: 1, size: 1, entries: [{ position: 0 }] });
  });

  it('a position beyond the log, a log that is none, and parameters that are none are refused', async () => {
    await store(domain(2), 2);
    await sealer.closeAndSeal();
    expectBlame(await ask(domain(2), '?from=3'), '/from');
    expectBlame(await ask(domain(2), '?from=-1'), '/from');
    expectBlame(await ask(domain(2), '?limit=1001'), '/limit');
    expectBlame(await ask(domain(2), '?since=0'), '/since');
    expectProblem(await ask(domain(2), '?log=2'), 404, 'not_found');
    const other = await makeTenant(stack.db);
    expectProblem(await ask(domain(2), '', other.organizationId), 404, 'domain_not_found');
  });

  it('after a restart a reader is told, and the old log can be read to its end', async () => {
    const ids = await store(domain(3), 4);
    await sealer.closeAndSeal();
    const cli = createCli({ ...stack.env, LOG_NAME: logName, USER: 'ann' });
    await cli.json('log', 'restart', domain(3), '--yes');
    expectProblem(await ask(domain(3), '?from=4'), 409, 'log_restarted');
    await store(domain(3), 2);
    await sealer.closeAndSeal();
    expectProblem(await ask(domain(3), '?from=4'), 409, 'log_restarted');
    expectProblem(await ask(domain(3), '?from=4&log=1'), 409, 'log_restarted');
    expect((await ask<Feed>(domain(3), '?from=1&log=1')).body).toMatchObject({
      log: 1,
      next: 4,
      size: 4,
      entries: ids.slice(1).map((id) => ({ type: 'record', record: { id } })),
    });
    expect((await ask<Feed>(domain(3))).body).toMatchObject({ log: 2, next: 2, size: 2 });
  });

  it('is gated by the plan, as the records are', async () => {
    const { organizationId, domainIds } = await makeTenant(stack.db, { consentLog: false });
    expectProblem(await ask(at(domainIds, 0), '', organizationId), 403, 'plan_feature_required');
  });
});
