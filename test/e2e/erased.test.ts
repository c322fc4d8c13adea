import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Queue } from 'bullmq';
import { beforeAll, describe, expect, it } from 'vitest';
import { packJob } from '#libs/contract/job';
import type { NewRecord } from '#libs/contract/record';
import type { Erasure, Imported } from '#libs/contract/responses';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import type { RedisConnection } from '#libs/runtime/redis';
import { persist } from '#libs/store/records/persist';
import { keepRejected } from '#libs/store/records/rejected';
import { recallTombstones } from '#libs/witness/tombstones';
import { keysWith } from '../../scripts/stack/redis-keys.ts';
import { tablesWith } from '../../scripts/stack/tables-with.ts';
import { request, tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { runCli, startWorker, type Worker } from '../support/service.ts';
import { type OwnStack, sealSettings, startStack } from '../support/stack.ts';
import { openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const needle = 'needle-5d1c7a';
const theirAgent = `Needle/5.1 (${needle})`;

describe('who was erased while their records waited everywhere', () => {
  let stack: OwnStack;
  let redis: RedisConnection;
  let worker: Worker;
  let queue: Queue;
  const ids: string[] = [];

  const personal = (fields: Partial<NewRecord> = {}) => {
    const record = recordAt(Date.now() - ids.length, {
      domainId: stack.domainId,
      visitorId: needle,
      ip: '192.0.2.0',
      userAgent: theirAgent,
      pageUrl: `https://shop.example/${needle}`,
      metadata: { customer: needle },
      ...fields,
    });
    ids.push(record.id);
    return record;
  };
  const some = (count: number, fields?: Partial<NewRecord>) => Array.from({ length: count }, () => personal(fields));

  const filesWith = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((each) => {
      const file = path.join(folder, each.name);
      if (each.isDirectory()) return filesWith(file);
      return readFileSync(file).includes(needle) ? [file] : [];
    });

  beforeAll(async () => {
    stack = await startStack({ worker: false });
    redis = await openRedis(stack.redis.url);
    // as text, which can be searched
    await redis.client.config('SET', 'aof-use-rdb-preamble', 'no');
    queue = new Queue(recordQueue(0), { connection: redis.client, prefix: queuePrefix });
    await persist(stack.db, some(20), { owe: true });
    await persist(stack.db, [recordAt(Date.now(), { domainId: stack.domainId, visitorId: 'another' })]);
    await stack.db.run((sql) => sql.unsafe('analyze'));
    for (let batch = 0; batch < 10; batch += 1) await queue.add('record', packJob(some(100)));
    await queue.add('record', packJob(some(1)), { delay: 3_600_000 });
    await stack.db.run((sql) =>
      keepRejected(sql, [{ record: personal(), errorCode: '22008', error: `about ${needle}` }]),
    );
    // Postgres refuses the row, and says so in its log
    await expect(
      stack.db.run((sql) => sql`insert into busy_visitors (domain_number, visitor_id) values (null, ${needle})`),
    ).rejects.toThrow();
    await stack.db.run(
      (sql) => sql`
        insert into busy_visitors (domain_number, visitor_id) select number, ${needle} from domains`,
    );
  }, 60_000);

  /** Postgres' own log: of a row that it refuses it quotes nothing. */
  const postgresLogWith = async () => {
    const [row] = await stack.db.run(
      (sql) => sql<{ folder: string }[]>`select current_setting('data_directory') as folder`,
    );
    const folder = path.dirname(row?.folder ?? '');
    const logs = readdirSync(folder).filter((name) => name.endsWith('.log'));
    expect(logs).not.toEqual([]);
    return logs.filter((name) => readFileSync(path.join(folder, name)).includes(needle));
  };

  it('there is something to find', async () => {
    expect(await keysWith(redis.client, needle)).toHaveLength(11);
    const before = await tablesWith(stack.db, needle);
    expect(before).toEqual(
      expect.arrayContaining(['public.rejected_records', 'public.busy_visitors', 'public.user_agents']),
    );
    expect(before.some((name) => name.startsWith('public.records_2'))).toBe(true);
    expect(before).not.toContain('pg_statistic');
    expect(filesWith(stack.redis.dataDir).length).toBeGreaterThan(0);
  });

  it('is in no store any more once the epoch is closed, and their decisions are all there', async () => {
    const answer = await request<Erasure>(stack.api.baseUrl, `/v1/organization/visitors/${needle}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'privacy' })}` },
    });
    expect(answer.body).toMatchObject({ state: 'done', records: 20 });
    // no worker runs yet: if Postgres is replaced now by a copy that lacks the erasure, it can be repeated
    expect(await recallTombstones(redis.client)).toMatchObject([
      { organizationId: stack.tenant.organizationId, domainId: null, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    worker = await startWorker({ ...stack.env, ...sealSettings });
    const stored = () =>
      stack.db.run(
        (sql) => sql<{ count: number; erased: number; decisions: number }[]>`
          select count(*)::int as count, count(erased_at)::int as erased,
            (select sum(accept_all)::int from counters where domain_id = ${stack.domainId} and length(period) = 7) as decisions
          from records where id = any(${ids})`,
      );
    // the delayed one and the rejected one are not stored yet
    await eventually(async () => expect(await stored()).toEqual([{ count: 1_020, erased: 1_020, decisions: 1_021 }]), {
      within: 40_000,
    });
    await eventually(async () => expect(await tablesWith(stack.db, needle)).toEqual([]), { within: 60_000 });
    await eventually(async () => expect(await keysWith(redis.client, needle)).toEqual([]), { within: 30_000 });
    expect(await postgresLogWith()).toEqual([]);
    await eventually(
      async () => {
        await redis.client.del('assent:rewritten');
        expect(filesWith(stack.redis.dataDir)).toEqual([]);
      },
      { within: 60_000 },
    );
    expect([...worker.lines, ...stack.api.lines].filter((line) => line.includes(needle))).toEqual([]);
  }, 180_000);

  it('does not come back with what was delayed or rejected', async () => {
    const [delayed] = await queue.getDelayed();
    await delayed?.promote();
    const { stdout } = await runCli({ ...stack.env }, 'records', 'replay', '--json');
    expect(JSON.parse(stdout)).toEqual({ replayed: 1, stored: 1, rejected: 0 });
    await eventually(
      async () => {
        const [row] = await stack.db.run(
          (sql) => sql<{ count: number }[]>`select count(*)::int as count from records where id = any(${ids})`,
        );
        expect(row?.count).toBe(1_022);
      },
      { within: 20_000 },
    );
    expect(await tablesWith(stack.db, needle)).toEqual([]);
  });

  it('records again or is imported, and is blanked once the epoch is closed', async () => {
    const late = some(5);
    await persist(stack.db, late);
    const rows = [1, 2, 3].map((day) =>
      JSON.stringify({
        decision: 'custom',
        decidedAt: `2024-05-0${day}T10:00:00.000Z`,
        visitorId: needle,
        userAgent: theirAgent,
        metadata: { customer: needle },
      }),
    );
    const { body } = await request<Imported>(stack.api.baseUrl, `/v1/consent/${stack.domainId}/import`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'import' })}`,
        'content-type': 'application/x-ndjson',
      },
      body: `${rows.join('\n')}\n`,
    });
    expect(body).toMatchObject({ read: 3, queued: 3 });
    await eventually(async () => {
      const [row] = await stack.db.run(
        (sql) => sql<{ count: number }[]>`
          select count(*)::int as count from records where source = 'import' and erased_at is not null`,
      );
      expect(row?.count).toBe(3);
    });
    await eventually(async () => expect(await tablesWith(stack.db, needle)).toEqual([]), { within: 30_000 });
    const { stdout, stderr } = await runCli({ ...stack.env }, 'log', 'check', '--json');
    expect([stderr, JSON.parse(stdout).differences]).toEqual(['', []]);
  });
});
