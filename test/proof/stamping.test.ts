import { Registry } from 'prom-client';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import type { RedisConnection } from '#libs/base/redis/connection';
import { createProofMetrics } from '#libs/proof/metrics';
import { findLog } from '#libs/proof/published';
import { createTimestamping } from '#libs/proof/timestamping';
import { findTimestamp, type Timestamp } from '#libs/proof/timestamps/stamped-checkpoints';
import { fromBase64, utf8 } from '#libs/proof/tree/bytes';
import { leafHash } from '#libs/proof/tree/hash';
import { parseNote } from '#libs/proof/tree/note';
import { verifyInclusion } from '#libs/proof/tree/verify-proofs';
import { persist } from '#libs/record/persist/persist';
import { sha256 } from '../support/log-vector.ts';
import type { Statement } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, type Sealer } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { connectDatabase, makeTenant, openDatabase, openRedis, openRedisServer } from '../support/stores.ts';
import { hasOpenssl, startTimeAuthority, type TimeAuthority } from '../support/time-authority.ts';
import { eventually } from '../support/wait.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const never = new AbortController().signal;

describe.skipIf(!hasOpenssl)('time-stamps', () => {
  let url: string;
  let db: Database;
  let sql: Statement;
  let sealer: Sealer;
  let authority: TimeAuthority;
  let domainIds: string[];

  let redis: RedisConnection;

  beforeAll(async () => {
    [authority, redis] = await Promise.all([startTimeAuthority(), openRedisServer().then(({ url }) => openRedis(url))]);
  });
  beforeEach(async () => {
    authority.requests.length = 0;
    authority.answerWith();
    await redis.client.flushall();
    ({ url, db, sql } = await openDatabase());
    sealer = createSealer(db, redis);
    ({ domainIds } = await makeTenant(db, { domains: 5 }));
  });

  const publish = async (...ids: string[]) => {
    const records = ids.map((domainId) => recordAt(Date.now(), { domainId }));
    await persist(db, records);
    await sealer.closeAndSeal();
  };

  const startWorker = (database = db) => {
    const metrics = createProofMetrics(new Registry());
    const warnings: Record<string, unknown>[] = [];
    const round = createTimestamping({
      authority: { url: authority.url, timeout: hour },
      db: database,
      log: { info: () => {}, warn: (fields) => void warnings.push({ ...fields }) },
      metrics,
    });
    const age = async () => (await metrics.timestampAge.get()).values[0]?.value;
    return { round: (signal = never) => round(signal), warnings, age };
  };

  const pass = (milliseconds: number) => sql`
    update timestamp_tries set next_try_at = next_try_at - ${milliseconds} * interval '1 ms',
      succeeded_at = succeeded_at - ${milliseconds} * interval '1 ms'`;
  /** To the day after, beyond the hour over which installations spread. */
  const passDay = () => pass(day + hour);

  const logOf = async (domainId: string) =>
    (await db.run((sql) => findLog(sql, domainId))) ?? expect.fail(`${domainId} has no checkpoint`);
  const timestampOf = async (domainId: string, position?: number): Promise<Timestamp> => {
    const log = await logOf(domainId);
    return (await db.run((sql) => findTimestamp(sql, log, position))) ?? expect.fail(`${domainId} has no time-stamp`);
  };
  const bytes = (text: string) => Buffer.from(fromBase64(text) ?? expect.fail(`not base64: ${text}`));
  const stored = () =>
    db.run(async (sql) => {
      const timestamps = await sql<{ number: number; root: Buffer; size: number }[]>`
        select number, root, size from timestamps order by number`;
      const leaves = await sql<{ domainId: string; number: number }[]>`
        select id as "domainId", timestamp_number as number
        from stamped_checkpoints join domains on domains.number = domain_number order by 2, place`;
      return { timestamps, leaves };
    });

  /** What an auditor does, who has the bundle and the authority's certificate. */
  async function expectStamped(timestamp: Timestamp, root: Uint8Array) {
    const leaf = leafHash(sha256, utf8(parseNote(timestamp.checkpoint).text));
    const { index, size } = timestamp;
    const proof = timestamp.path.map(bytes);
    expect(verifyInclusion(sha256, { leaf, index, size, proof, root })).toBe(true);
    const digest = Buffer.from(root).toString('hex');
    expect(await authority.verify(bytes(timestamp.token), digest)).toBe('Verification: OK');
  }

  it("lead from every domain's newest checkpoint to one token that openssl verifies, and tell nothing of others", async () => {
    await publish(...domainIds, ...domainIds);
    await startWorker().round();
    expect(authority.requests).toHaveLength(1);
    const { timestamps } = await stored();
    expect(timestamps).toMatchObject([{ size: 5 }]);
    // in the order of their origins
    for (const [index, domainId] of [...domainIds].sort().entries()) {
      const timestamp = await timestampOf(domainId);
      expect(timestamp).toMatchObject({ index, checkpoint: (await logOf(domainId)).checkpoint });
      await expectStamped(timestamp, at(timestamps, 0).root);
      // and it tells nothing of another
      const { checkpoint, path, token } = timestamp;
      const shown = Buffer.concat([utf8(checkpoint), ...path.map(bytes), bytes(token)]).toString('latin1');
      for (const other of domainIds) expect(shown.includes(other)).toBe(other === domainId);
      expect(path.map((hash) => bytes(hash).length)).toEqual(path.map(() => 32));
    }
    expect(await db.run((sql) => findTimestamp(sql, { domainNumber: 2_000_000_000, log: 1 }))).toBeNull();
  });

  it('are made once a UTC day, and cost a row only for a log that has grown', async () => {
    const [grown, still] = [at(domainIds, 0), at(domainIds, 1)];
    const worker = startWorker();
    await publish(grown, still);
    await worker.round();
    const first = await timestampOf(still);
    await publish(grown);
    const [next] = await sql<{ day: number; hour: number }>`
      select extract(epoch from next_try_at)::float8 / 86400 as day, extract(hour from next_try_at)::int as hour
      from timestamp_tries`;
    // it may be midnight just now
    expect([0, 1]).toContain(Math.floor(next?.day ?? 0) - Math.floor(Date.now() / day));
    expect(next?.hour).toBe(0);
    await worker.round();
    expect(authority.requests).toHaveLength(1);
    await passDay();
    await worker.round();
    expect(authority.requests).toHaveLength(2);
    const { timestamps, leaves } = await stored();
    expect(timestamps).toMatchObject([{ size: 2 }, { size: 2 }]);
    expect(leaves.filter(({ number }) => number === timestamps[1]?.number)).toMatchObject([{ domainId: grown }]);
    expect(await timestampOf(still)).toEqual(first);
    const newest = await timestampOf(grown);
    expect(newest.checkpoint.split('\n')[1]).toBe('2');
    await expectStamped(newest, at(timestamps, 1).root);
    // the first entry was there a day earlier
    await expectStamped(await timestampOf(grown, 0), at(timestamps, 0).root);
    expect(await timestampOf(grown, 1)).toEqual(newest);
    const log = await logOf(grown);
    expect(await db.run((sql) => findTimestamp(sql, log, 2))).toBeNull();
  });

  it('are not asked for while nothing new is published, and their age stays below a day', async () => {
    const worker = startWorker();
    await worker.round();
    await pass(3 * day);
    await worker.round();
    expect([authority.requests.length, await worker.age()]).toEqual([0, 0]);
    await publish(at(domainIds, 0));
    await worker.round();
    expect(authority.requests).toHaveLength(1);
    for (let days = 0; days < 2; days += 1) {
      await passDay();
      await worker.round();
      expect(await worker.age()).toBeLessThan(60);
    }
    expect(authority.requests).toHaveLength(1);
    expect(worker.warnings).toEqual([]);
  });

  it('are asked for by one worker, however many there are', async () => {
    await publish(...domainIds);
    const workers = [1, 2, 3].map(() => startWorker(connectDatabase(url).db));
    for (let days = 0; days < 2; days += 1) {
      await Promise.all([...workers, ...workers].map(({ round }) => round()));
      expect(authority.requests).toHaveLength(days + 1);
      await publish(...domainIds);
      await passDay();
    }
    expect((await stored()).timestamps).toHaveLength(2);
  });

  it('are asked for less and less often while the authority fails, at least hourly, and at last are made', async () => {
    await publish(at(domainIds, 0));
    authority.answerWith((_, response) => void response.writeHead(503).end());
    const worker = startWorker();
    const waits = [1, 2, 4, 8, 16, 32, 60, 60];
    for (const [tries, wait] of waits.entries()) {
      const begin = Date.now();
      await worker.round();
      expect(authority.requests).toHaveLength(tries + 1);
      expect(worker.warnings.at(-1)).toMatchObject({ event: 'not_timestamped', failures: tries + 1 });
      const next = Number(worker.warnings.at(-1)?.nextTryAt) - wait * minute;
      expect(next).toBeGreaterThanOrEqual(begin);
      expect(next).toBeLessThanOrEqual(Date.now());
      await worker.round();
      expect(authority.requests).toHaveLength(tries + 1);
      await pass(wait * minute);
    }
    expect(await worker.age()).toBeGreaterThan(122 * 60);
    expect(await stored()).toEqual({ timestamps: [], leaves: [] });
    authority.answerWith();
    await worker.round();
    expect(await worker.age()).toBeLessThan(60);
    await expectStamped(await timestampOf(at(domainIds, 0)), at((await stored()).timestamps, 0).root);
    expect(worker.warnings).toHaveLength(waits.length);
    // and while Postgres cannot say, nobody does
    await sql`alter table timestamp_tries rename to lost`;
    await expect(worker.round()).rejects.toThrow('timestamp_tries');
    expect(await worker.age()).toBeUndefined();
  });

  it('are asked for, and their age counts, although a clock that was 400 days ahead noted when', async () => {
    await publish(at(domainIds, 0));
    await startWorker().round();
    await publish(at(domainIds, 0));
    await pass(-400 * day);
    authority.answerWith((_, response) => void response.writeHead(503).end());
    const worker = startWorker();
    await worker.round();
    expect(authority.requests).toHaveLength(2);
    await pass(minute);
    await worker.round();
    expect(await worker.age()).toBeGreaterThanOrEqual(60);
  });

  it('do not hold up sealing, or the end of a worker, while the authority is silent', async () => {
    await publish(at(domainIds, 0));
    authority.answerWith(() => {});
    const stopping = new AbortController();
    const worker = startWorker();
    const round = worker.round(stopping.signal);
    await eventually(() => expect(authority.requests).toHaveLength(1));
    await publish(at(domainIds, 0));
    expect((await logOf(at(domainIds, 0))).size).toBe(2);
    stopping.abort();
    await round;
    expect(worker.warnings).toEqual([]);
    // another worker makes it a minute later
    authority.answerWith();
    await pass(minute);
    await startWorker().round();
    expect((await timestampOf(at(domainIds, 0))).checkpoint.split('\n')[1]).toBe('2');
  });

  it('stay with a log that was followed by another, which gets one of its end, and go on with the new one', async () => {
    const domainId = at(domainIds, 0);
    await publish(domainId);
    await startWorker().round();
    const old = await timestampOf(domainId);
    const { domainNumber } = await logOf(domainId);
    await publish(domainId);
    await db.run(async (sql) => {
      await sql`update logs set ended_at = now() where domain_number = ${domainNumber}`;
      await sql`
        insert into logs (domain_number, log, origin, size, checkpoint_size, checkpoint)
        values (${domainNumber}, 2, 'again', 1, 1, ${'again\n1\nroot\n\n— signed\n'})`;
    });
    await passDay();
    await startWorker().round();
    const find = (log: number, position?: number) =>
      db.run((sql) => findTimestamp(sql, { domainNumber, log }, position));
    const end = { checkpoint: expect.stringMatching(/^.*\n2\n/), index: 1, size: 2 };
    const again = { checkpoint: 'again\n1\nroot\n\n— signed\n', index: 0, size: 2 };
    expect([await find(1, 0), await find(1), await find(2)]).toMatchObject([old, end, again]);
    await passDay();
    await startWorker().round();
    expect(authority.requests).toHaveLength(2);
  });
});
