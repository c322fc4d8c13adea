import { describe, expect, it } from 'vitest';
import { Problem } from '#libs/contract/problem';
import { createDatabase } from '#libs/store/sql';
import { atEnd } from '../support/at-end.ts';
import { freeze, openOwnPostgres, restartRedis } from '../support/outage.ts';
import { openConsumer, openRecorder } from '../support/recording.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

describe('with Postgres away', () => {
  it('records are queued, without Redis too they are refused with their id, and after all of it each is stored once', async () => {
    const postgres = await openOwnPostgres();
    const redis = await openRedisServer();
    const urls = { redis: redis.url, postgres: postgres.url };
    const db = createDatabase({
      url: postgres.url,
      max: 4,
      statementTimeout: 8_000,
      deadline: 10_000,
      prepare: true,
      name: 'worker',
    });
    atEnd(() => db.close());
    const { organizationId, domainIds } = await makeTenant(db);
    const [domainId = ''] = domainIds;
    const { recorder, producer } = await openRecorder(urls);
    const consumer = await openConsumer(urls, db);
    const make = () => recordAt(Date.now(), { domainId });
    const record = (made = make()) => recorder.record(made, organizationId, 500);
    const refusal = async (made = make()): Promise<{ made: typeof made; problem: unknown; after: number }> => {
      const started = performance.now();
      const problem: unknown = await record(made).then(
        () => undefined,
        (error: unknown) => error,
      );
      return { made, problem, after: performance.now() - started };
    };
    const stored = async () =>
      (
        await db.run(
          (sql) =>
            sql<
              { id: string }[]
            >`select id from records where domain_number = (select number from domains where id = ${domainId})`,
        )
      )
        .map(({ id }) => id)
        .toSorted();

    // Postgres alone: the worker holds on to its jobs
    await postgres.stop();
    const accepted = Array.from({ length: 20 }, make);
    for (const made of accepted) expect(await record(made)).toBe('queued');

    // both
    const { thaw } = freeze(redis);
    const frozen = await Promise.all(Array.from({ length: 5 }, () => refusal()));
    thaw();
    await redis.stop();
    const gone = await Promise.all(Array.from({ length: 5 }, () => refusal()));
    for (const { made, problem, after } of [...frozen, ...gone]) {
      if (!(problem instanceof Problem)) throw new Error('not refused');
      expect(problem.status).toBe(503);
      expect(problem.code).toBe('unavailable');
      expect(problem.headers['Retry-After']).toBe('1');
      expect(problem.body('request')).toMatchObject({ id: made.id });
      expect(after).toBeLessThan(9_000);
    }

    // and back: the client sends what was refused again, with its id
    await Promise.all([postgres.start(), restartRedis(redis)]);
    const refused = [...frozen, ...gone].map(({ made }) => made);
    for (const made of refused) await eventually(() => record(made), { within: 20_000 });
    const all = [...accepted, ...refused].map(({ id }) => id).toSorted();
    await eventually(async () => expect(await stored()).toEqual(all), { within: 20_000 });
    await eventually(async () => {
      const counts = await producer.queues()[0]?.getJobCounts('waiting', 'active', 'delayed', 'failed');
      expect(counts).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 });
    });
    await consumer.close();
  });
});
