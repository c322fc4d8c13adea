import { beforeAll, describe, expect, it } from 'vitest';
import { startWorker } from '../support/service.ts';
import { type OwnStack, startStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

describe('the age of the oldest job', () => {
  let stack: OwnStack;

  beforeAll(async () => {
    stack = await startStack({ worker: false });
  });

  const scrape = async (opsUrl: string) => {
    const text = await (await fetch(`${opsUrl}/metrics`)).text();
    const value = (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      );
    const jobs = (state: string) => value(`assent_queue_jobs{shard="0",state="${state}"}`);
    return {
      age: value('assent_queue_oldest_job_age_seconds{shard="0"}'),
      waiting: jobs('waiting'),
      active: jobs('active'),
    };
  };

  it('is told by the API while no worker runs, and by a worker that cannot store what it holds', async () => {
    const { api, client, db, env } = stack;
    expect(await scrape(api.opsUrl)).toMatchObject({ age: 0, waiting: 0, active: 0 });
    expect((await client.record(stack.domainId, stack.apiKey, { decision: 'custom' })).status).toBe(202);
    await eventually(async () => {
      const { age, waiting } = await scrape(api.opsUrl);
      expect(waiting).toBe(1);
      expect(age).toBeGreaterThan(0.5);
    });
    await db.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`lock table records in access exclusive mode`;
        const worker = await startWorker(env);
        await eventually(async () => {
          for (const { opsUrl } of [api, worker]) {
            const { age, active } = await scrape(opsUrl);
            expect(active).toBe(1);
            expect(age).toBeGreaterThan(1);
          }
        });
      }),
    );
    await eventually(async () => expect(await scrape(api.opsUrl)).toMatchObject({ age: 0, waiting: 0, active: 0 }));
  });
});
