/** Erasures: while records wait everywhere, and while something is away or killed. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Queue, Worker } from 'bullmq';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { Imported } from '#libs/log/import/contract';
import type { Erasure } from '#libs/privacy/contract';
import { eraseVisitor } from '#libs/privacy/erasures';
import { goOnErasing } from '#libs/privacy/leftovers';
import { recallTombstones } from '#libs/privacy/tombstones-in-redis';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { packJob, queuePrefix, recordQueue } from '#libs/record/queue';
import { keepRejected } from '#libs/record/rejected';
import { createVisitorHash } from '#libs/tenants/visitors';
import { tables } from '../../apps/cli/org-delete.ts';
import { keysWith, tablesWith } from '../../scripts/stack/places-with.ts';
import { createCli } from '../support/cli.ts';
import { request, tokenFor } from '../support/client.ts';
import { restartRedis } from '../support/outage.ts';
import { recordAt } from '../support/records.ts';
import { startWorker } from '../support/service.ts';
import { privacyKey } from '../support/settings.ts';
import { sealSettings, startStack } from '../support/stack.ts';
import { openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const stack = await startStack({ worker: false });

const personal = (visitorId: string, fields: Partial<NewRecord> = {}) =>
  recordAt(Date.now(), { domainId: stack.domainId, visitorId, metadata: { visitor: visitorId }, ...fields });
const some = (visitorId: string, count: number) => Array.from({ length: count }, () => personal(visitorId));
const sealingWorker = () => ({ ...stack.env, ...sealSettings });
const bearer = (scope: string) => ({ authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope })}` });
const erase = (visitorId: string) =>
  request<Erasure>(stack.api.baseUrl, `/v1/organization/visitors/${visitorId}`, {
    method: 'DELETE',
    headers: bearer('privacy'),
  });
const openQueue = (redis: RedisConnection) =>
  new Queue(recordQueue(0), { connection: redis.client, prefix: queuePrefix });
const countStored = async (ids: string[]) => {
  const [row] = await stack.sql<{ stored: number; erased: number }>`
      select count(*)::int as stored, count(erased_at)::int as erased from records where id = any(${ids})`;
  return row;
};

const redis = await openRedis(stack.redis.url);
const queue = openQueue(redis);

describe('who was erased while their records waited everywhere', () => {
  const needle = 'needle-5d1c7a';
  const theirAgent = `Needle/5.1 (${needle})`;
  const ids: string[] = [];
  const theirOwn = ['192.0.2.0'];

  const theirs = (count: number) =>
    Array.from({ length: count }, () => {
      const pageUrl = `https://shop.example/${needle}`;
      const record = personal(needle, { ip: '192.0.2.0', userAgent: theirAgent, pageUrl });
      ids.push(record.id);
      return record;
    });
  /** The personal columns that hold something of theirs. */
  const personalOfTheirs = async () => {
    const found: string[] = [];
    for (const { name, personal = [] } of tables) {
      for (const column of personal) {
        const rows = await stack.db.run(
          (sql) => sql`
            select from ${sql(name)}
            where strpos(${sql(column)}::text, ${needle}) > 0 or ${sql(column)}::text = any(${theirOwn}) limit 1`,
        );
        if (rows.count > 0) found.push(`${name}.${column}`);
      }
    }
    return found;
  };
  const filesWith = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((each) => each.isFile())
      .map((each) => path.join(each.parentPath, each.name))
      .filter((file) => readFileSync(file).includes(needle));

  beforeAll(async () => {
    // as text, which can be searched
    await redis.client.config('SET', 'aof-use-rdb-preamble', 'no');
    await persist(stack.db, theirs(20), { owe: true });
    await persist(stack.db, [personal('another', { metadata: {} })]);
    await stack.db.run((sql) => sql.unsafe('analyze'));
    for (let batch = 0; batch < 10; batch += 1) await queue.add('record', packJob(theirs(10)));
    await queue.add('record', packJob(theirs(1)), { delay: 3_600_000 });
    // which nobody can read, so it fails
    const [agent, broken] = [theirAgent, { ...personal(needle), domainId: 0, userAgent: 0, id: 'none' }];
    await queue.add('record', { v: 3, domainIds: [stack.domainId], userAgents: [agent], records: [broken] });
    const rejected = theirs(1).map((record) => ({ record, errorCode: '22008', error: `about ${needle}` }));
    await stack.db.run((sql) => keepRejected(sql, rejected));
    // Postgres refuses the row, and says so in its log
    await expect(
      stack.sql`insert into busy_visitors (domain_number, visitor_id) values (null, ${needle})`,
    ).rejects.toThrow();
    await stack.sql`insert into busy_visitors (domain_number, visitor_id) select number, ${needle} from domains`;
    await stack.sql`
      insert into visitor_counters (domain_number, visitor_id, period, bot)
      select number, ${needle}, '2026-11', false from domains`;
    const [agentRow] = await stack.sql<{ number: number }>`select number from user_agents where text = ${theirAgent}`;
    theirOwn.push(String(agentRow?.number));
    return () => queue.close();
  });

  /** Postgres' own log: of a row that it refuses it quotes nothing. */
  const postgresLogWith = async () => {
    const [row] = await stack.sql<{ folder: string }>`select current_setting('data_directory') as folder`;
    const folder = path.dirname(row?.folder ?? '');
    const logs = readdirSync(folder).filter((name) => name.endsWith('.log'));
    expect(logs).not.toEqual([]);
    return logs.filter((name) => readFileSync(path.join(folder, name)).includes(needle));
  };
  const untilNothingIsLeft = () =>
    eventually(async () =>
      expect([...(await tablesWith(stack.db, needle)), ...(await personalOfTheirs())]).toEqual([]),
    );

  it('there is something to find', async () => {
    expect(await keysWith(redis.client, needle)).toHaveLength(12);
    const before = await tablesWith(stack.db, needle);
    expect(before).not.toContain('pg_statistic');
    // in every personal column, but for the one that waits for the erasure itself, and in no table without one
    const personal = tables.flatMap(({ name, personal = [] }) => personal.map((column) => `${name}.${column}`));
    expect(await personalOfTheirs()).toEqual(personal.filter((column) => column !== 'erasures.visitor_id'));
    const listed = new Set(personal.map((column) => `public.${column.replace(/\..*/, '')}`));
    expect(before.filter((name) => !listed.has(name.replace(/_2\d{3}_\d\d$/, '')))).toEqual([]);
    expect(filesWith(stack.redis.dataDir).length).toBeGreaterThan(0);
  });

  it('is in no store any more once the epoch is closed, nor comes back, and their decisions are all there', async () => {
    const cli = createCli(stack.env);
    expect((await erase(needle)).body).toMatchObject({ state: 'done', records: 20 });
    // no worker runs yet: if Postgres is replaced now by a copy that lacks the erasure, it can be repeated. The answer does
    // not wait for a Redis that is slow
    const remembered = { organizationId: stack.tenant.organizationId, domainId: null };
    await eventually(async () => expect(await recallTombstones(redis.client)).toMatchObject([remembered]));
    const worker = await startWorker(sealingWorker());
    // the delayed one and the rejected one are not stored yet
    await eventually(async () => expect(await countStored(ids)).toEqual({ stored: 120, erased: 120 }));
    await untilNothingIsLeft();
    await eventually(async () => expect(await keysWith(redis.client, needle)).toEqual([]));
    for (const unreadable of await queue.getFailed()) await unreadable.remove();
    expect(await postgresLogWith()).toEqual([]);
    await eventually(async () => {
      await redis.client.del('assent:rewritten');
      expect(filesWith(stack.redis.dataDir)).toEqual([]);
    });
    expect([...worker.lines, ...stack.api.lines].filter((line) => line.includes(needle))).toEqual([]);

    const [delayed] = await queue.getDelayed();
    await delayed?.promote();
    expect(await cli.json('records', 'replay')).toEqual({ replayed: 1, stored: 1, rejected: 0 });
    await eventually(async () => expect((await countStored(ids))?.stored).toBe(122));
    expect(await tablesWith(stack.db, needle)).toEqual([]);

    // they record again, and are imported
    await persist(stack.db, theirs(5));
    const rows = [1, 2, 3].map((day) => ({
      ...{ decision: 'custom', visitorId: needle, userAgent: theirAgent, metadata: { customer: needle } },
      decidedAt: `2024-05-0${day}T10:00:00.000Z`,
    }));
    const { body } = await request<Imported>(stack.api.baseUrl, `/v1/consent/${stack.domainId}/import`, {
      method: 'POST',
      headers: { ...bearer('import'), 'content-type': 'application/x-ndjson' },
      body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    });
    expect(body).toMatchObject({ read: 3, queued: 3 });
    await eventually(async () => {
      const imported = await stack.sql`select from records where source = 'import' and erased_at is not null`;
      expect(imported.count).toBe(3);
    });
    await untilNothingIsLeft();
    expect(await cli.json('log', 'check')).toMatchObject({ differences: [] });
    const [counted] = await stack.sql<{ decisions: number }>`
        select sum(accept_all + custom)::int as decisions from counters
        where domain_id = ${stack.domainId} and length(period) = 7`;
    expect(counted?.decisions).toBe(131);
    await worker.stop();
  });
});

describe('an erasure', () => {
  const store = async (visitorId: string, count: number) => {
    for (let from = 0; from < count; from += 2_000)
      await persist(stack.db, some(visitorId, Math.min(2_000, count - from)), { owe: true });
  };
  const newest = async () => {
    const [row] = await stack.sql<{ id: string; records: number; isDone: boolean; visitorId: string | null }>`
        select id, records, done_at is not null as "isDone", visitor_id as "visitorId" from erasures
        order by began_at desc limit 1`;
    return row;
  };
  const left = async (visitorId: string) => {
    const found = await stack.sql`
      select from records where visitor_id = ${visitorId} or metadata::text like ${`%${visitorId}%`}`;
    return found.count;
  };
  const untilErased = (records: number) =>
    eventually(async () => expect(await newest()).toMatchObject({ records, isDone: true, visitorId: null }));
  it('while Redis is away is not undone by what waited there, nor by what had failed', async () => {
    await store('waits', 30);
    const waiting = Array.from({ length: 6 }, () => some('waits', 10));
    const redis = await openRedis(stack.redis.url, 'worker');
    const queue = openQueue(redis);
    const connection = (await openRedis(stack.redis.url, 'worker')).client;
    const failing = new Worker(recordQueue(0), () => Promise.reject(new Error('fails')), {
      connection,
      prefix: queuePrefix,
    });
    const [first, ...others] = waiting.map(packJob);
    await queue.add('record', first, { attempts: 1 });
    await eventually(async () => expect(await queue.getFailedCount()).toBe(1));
    await failing.close();
    for (const job of others) await queue.add('record', job);
    await queue.close();
    await stack.redis.stop();

    expect(await erase('waits')).toMatchObject({ status: 200, body: { state: 'done', records: 30 } });
    await restartRedis(stack.redis);
    const after = await openRedis(stack.redis.url);
    // they waited through it
    expect((await keysWith(after.client, 'waits')).length).toBe(6);
    const worker = await startWorker(sealingWorker());
    const ids = waiting.flat().map(({ id }) => id);
    await eventually(async () => expect(await countStored(ids)).toEqual({ stored: 50, erased: 50 }));
    await eventually(async () => expect(await keysWith(after.client, 'waits')).toEqual([]));
    const retried = openQueue(await openRedis(stack.redis.url, 'worker'));
    await retried.retryJobs({ state: 'failed' });
    await eventually(async () => expect(await countStored(ids)).toMatchObject({ stored: 60 }));
    expect(await left('waits')).toBe(0);
    await retried.close();
    await worker.stop();
  });

  it('goes on and ends where the API, and then a worker, was killed', async () => {
    await store('killed', 1_200);
    const counters = () => stack.sql`select * from counters order by organization_id, domain_id, period`;
    const counted = await counters();
    /** The database of a process that is killed after so many transactions. */
    const killedAfter = (most: number): typeof stack.db => {
      let begun = 0;
      const transaction: typeof stack.db.transaction = (...given) => {
        begun += 1;
        return begun > most ? Promise.reject(new Error('killed')) : stack.db.transaction(...given);
      };
      return { ...stack.db, transaction };
    };
    const { organizationId } = stack.tenant;
    const hash = createVisitorHash(Buffer.from(privacyKey, 'hex'))(organizationId, 'killed');
    const wanted = { organizationId, visitorId: 'killed', hash, actor: 'test' };
    await expect(eraseVisitor(killedAfter(2), wanted)).rejects.toThrow('killed');
    expect(await newest()).toMatchObject({ isDone: false, records: 500, visitorId: 'killed' });
    // for five seconds somebody may be at it
    const { signal } = new AbortController();
    await goOnErasing(stack.db, signal);
    await stack.sql`update erasures set moved_at = moved_at - interval '5 seconds'`;
    await expect(goOnErasing(killedAfter(1), signal)).rejects.toThrow('killed');
    expect(await newest()).toMatchObject({ isDone: false, records: 1_000, visitorId: 'killed' });
    // as noted by a clock that was ahead
    await stack.sql`update erasures set moved_at = clock_timestamp() + interval '400 days'`;
    const worker = await startWorker(sealingWorker());
    await untilErased(1_200);
    await worker.stop();
    expect(await left('killed')).toBe(0);
    expect(await counters()).toEqual(counted);
  });

  it('of more than 10,000 records is answered before it has begun', async () => {
    await store('large', 10_001);
    const running = { state: 'running', records: 0, visitorId: 'large', erasedAt: null };
    expect(await erase('large')).toMatchObject({ status: 202, body: running });
  });
});
