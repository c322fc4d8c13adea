import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Appetite, createAppetite } from '#libs/queue/appetite';
import { eventually } from '../support/wait.ts';

describe('how many jobs a worker takes at once', () => {
  let taker: { concurrency: number };
  let appetite: Appetite;
  beforeEach(() => {
    taker = { concurrency: 10 };
    appetite = createAppetite(taker);
  });
  afterEach(() => appetite.close());

  const begin = (jobs: number, records: number) => {
    for (let job = 0; job < jobs; job += 1) appetite.begin(records);
  };
  /** The mean of many jobs comes close to the size of the last ones. */
  const untilTaken = (jobs: number) =>
    eventually(() => {
      expect(taker.concurrency).toBeGreaterThan(0.9 * jobs);
      expect(taker.concurrency).toBeLessThanOrEqual(jobs);
    });

  it('grows while all hands are full of small jobs, to a thousand records, and falls back once nothing waits', async () => {
    begin(1_000, 1);
    await untilTaken(1_000);
    appetite.reset();
    expect(taker.concurrency).toBe(10);
  });

  it('grows no further than the mean job allows, and gives way at once to larger ones', async () => {
    begin(100, 20);
    await untilTaken(50);
    begin(1, 100);
    await untilTaken(10);
  });

  it('stays where most hands are free, and where jobs are large', async () => {
    const idle = { concurrency: 10 };
    const busy = { concurrency: 10 };
    const [ofIdle, ofBusy] = [createAppetite(idle), createAppetite(busy)];
    for (let job = 0; job < 4; job += 1) ofIdle.begin(1);
    for (let job = 0; job < 10; job += 1) ofBusy.begin(400);
    begin(1_000, 1);
    // by then the others had as many looks
    await untilTaken(1_000);
    ofIdle.close();
    ofBusy.close();
    expect([idle.concurrency, busy.concurrency]).toEqual([10, 10]);
  });
});
