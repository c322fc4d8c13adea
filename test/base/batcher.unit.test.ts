import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Batcher, BatcherFull, type BatcherOptions, BatcherTimeout, type Linger } from '#libs/base/batcher';
import { eventually } from '../support/wait.ts';

/** A batcher whose runs end when the test says so. */
function gated(options: Partial<BatcherOptions<string, string>> = {}) {
  const runs: { items: string[]; succeed: () => void; fail: (error: Error) => void }[] = [];
  const batcher = new Batcher<string, string>({
    run: (items) =>
      new Promise((resolve, reject) => {
        runs.push({ items, succeed: () => resolve(items.join('+')), fail: reject });
      }),
    maxBatch: 100,
    maxPending: 1_000,
    ...options,
  });
  const started = (count: number) =>
    eventually(() => {
      expect(runs).toHaveLength(count);
      const run = runs.at(-1);
      if (!run) throw new Error('no run');
      return run;
    });
  return { batcher, runs, started };
}
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const outcome = (promise: Promise<string>) =>
  promise.catch((error: unknown) => (error instanceof Error ? error.constructor.name : 'no error'));

describe('a batcher', () => {
  it('runs at once what comes in one turn of the event loop, and gathers what comes while that is in flight', async () => {
    const { batcher, runs, started } = gated();
    const first = ['a', 'b'].map((item) => batcher.add(item));
    await turn();
    expect(runs.map(({ items }) => items)).toEqual([['a', 'b']]);
    const rest: Promise<string>[] = [];
    for (const item of ['c', 'd', 'e']) {
      rest.push(batcher.add(item));
      await turn();
    }
    expect(runs).toHaveLength(1);
    runs[0]?.succeed();
    const second = await started(2);
    expect(second.items).toEqual(['c', 'd', 'e']);
    second.succeed();
    expect(await Promise.all([...first, ...rest])).toEqual(['a+b', 'a+b', 'c+d+e', 'c+d+e', 'c+d+e']);
  });

  it('gives an error that `run` throws before it returns a promise to its batch too', async () => {
    const { batcher } = gated({
      run: () => {
        throw new RangeError('no');
      },
    });
    expect(await outcome(batcher.add('a'))).toBe('RangeError');
    await batcher.idle();
  });

  it('refuses what is too much beside all that is unsettled, until something is settled', async () => {
    const { batcher, started } = gated({ weigh: (item) => item.length, maxPending: 5 });
    const first = batcher.add('aaa');
    const run = await started(1);
    const second = batcher.add('bb');
    expect(await outcome(batcher.add('c'))).toBe(BatcherFull.name);
    run.succeed();
    await first;
    // what was refused took no room, and what is settled gave back its own
    const third = batcher.add('ccc');
    expect(await outcome(batcher.add('d'))).toBe(BatcherFull.name);
    (await started(2)).succeed();
    expect(await Promise.all([second, third])).toEqual(['bb+ccc', 'bb+ccc']);
    const whole = batcher.add('eeeee');
    expect(await outcome(batcher.add('f'))).toBe(BatcherFull.name);
    (await started(3)).succeed();
    expect(await whole).toBe('eeeee');
  });
});

describe('a batcher that lingers', () => {
  const hour = 3_600_000;
  const busy = async (linger: Linger, size = linger.from) => {
    const given = gated({ linger });
    const first = Array.from({ length: size }, () => given.batcher.add('first'));
    (await given.started(1)).succeed();
    await Promise.all(first);
    return given;
  };

  it('waits for enough while much comes, and no longer', async () => {
    const { batcher, runs, started } = await busy({ from: 3, enough: 4, milliseconds: hour });
    const added = ['a', 'b', 'c'].map((item) => batcher.add(item));
    await turn();
    await turn();
    expect(runs).toHaveLength(1);
    added.push(batcher.add('d'));
    const run = await started(2);
    expect(run.items).toEqual(['a', 'b', 'c', 'd']);
    run.succeed();
    await Promise.all(added);
  });

  it.each([
    ['as long as more comes, and starts with what there is once nothing does', 3, 100],
    ['no longer than its time, though more comes', 6, 45],
  ])('waits %s', async (_, count, milliseconds) => {
    const { batcher, runs } = await busy({ from: 3, enough: 9, milliseconds, gap: 20 });
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    for (let item = 0; item < count; item += 1) {
      void batcher.add(`item ${item}`);
      vi.advanceTimersByTime(15);
    }
    vi.advanceTimersByTime(5);
    expect(runs[1]?.items).toEqual(['item 0', 'item 1', 'item 2']);
  });

  it('runs at once where little came lately', async () => {
    const { batcher, runs } = await busy({ from: 3, enough: 4, milliseconds: hour }, 2);
    const added = batcher.add('a');
    await turn();
    expect(runs[1]?.items).toEqual(['a']);
    runs[1]?.succeed();
    await added;
  });

  it('gathers for a run that follows another at once', async () => {
    const { batcher, runs, started } = gated({ linger: { from: 2, enough: 2, milliseconds: hour } });
    const first = ['a', 'b'].map((item) => batcher.add(item));
    const run = await started(1);
    const added = [batcher.add('c')];
    run.succeed();
    await Promise.all(first);
    await turn();
    expect(runs).toHaveLength(1);
    added.push(batcher.add('d'));
    (await started(2)).succeed();
    expect(await Promise.all(added)).toEqual(['c+d', 'c+d']);
  });
});

it('patience ends the wait of items in a run that hangs and of those behind it, and frees their room', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { batcher, runs, started } = gated({ patience: 20, maxPending: 2 });
  const hanging = outcome(batcher.add('a'));
  const run = await started(1);
  const behind = outcome(batcher.add('b'));
  vi.advanceTimersByTime(50);
  expect(await Promise.all([hanging, behind])).toEqual([BatcherTimeout.name, BatcherTimeout.name]);
  // both gave back their room
  const next = [batcher.add('c'), batcher.add('d')];
  expect(await outcome(batcher.add('e'))).toBe(BatcherFull.name);
  // what nobody waits for any more is not run
  run.succeed();
  const second = await started(2);
  expect(second.items).toEqual(['c', 'd']);
  // nor gives it back its room once more
  expect(await outcome(batcher.add('f'))).toBe(BatcherFull.name);
  second.succeed();
  expect(await Promise.all(next)).toEqual(['c+d', 'c+d']);
  expect(runs).toHaveLength(2);
  // where nobody waits any more it is idle once the run in flight ends
  const last = [outcome(batcher.add('g'))];
  const third = await started(3);
  last.push(outcome(batcher.add('h')));
  const idle = batcher.idle();
  vi.advanceTimersByTime(50);
  expect(await Promise.all(last)).toEqual([BatcherTimeout.name, BatcherTimeout.name]);
  third.succeed();
  await idle;
});

it('every item gets its own batch’s result, at any rate of arrival', async () => {
  const script = fc.array(fc.record({ weight: fc.nat(6), pause: fc.boolean(), fails: fc.boolean() }), {
    maxLength: 40,
    size: 'max',
  });
  const lingers = fc.record({
    ...{ from: fc.nat(6), enough: fc.nat(12), milliseconds: fc.constant(3) },
    gap: fc.integer({ min: 1, max: 4 }),
  });
  const limits = fc.record({
    maxBatch: fc.integer({ min: 1, max: 10 }),
    concurrency: fc.integer({ min: 1, max: 3 }),
    linger: lingers,
  });
  await fc.assert(
    fc.asyncProperty(script, limits, async (steps, { maxBatch, concurrency, linger }) => {
      let running = 0;
      const batches: number[][] = [];
      const batcher = new Batcher<number, number>({
        run: async (items) => {
          running += 1;
          expect(running).toBeLessThanOrEqual(concurrency);
          const batch = batches.push(items) - 1;
          await turn();
          running -= 1;
          if (items.some((item) => steps[item]?.fails)) throw new Error(String(batch));
          return batch;
        },
        weigh: (item) => steps[item]?.weight ?? 0,
        maxBatch,
        maxPending: Number.POSITIVE_INFINITY,
        concurrency,
        linger,
      });
      const results: Promise<number>[] = [];
      for (const [item, { pause }] of steps.entries()) {
        results.push(batcher.add(item).catch((error: unknown) => -1 - Number(error instanceof Error && error.message)));
        if (pause) await turn();
      }
      await batcher.idle();
      expect([running, batches.flat().length]).toEqual([0, steps.length]);
      const got = await Promise.all(results);
      // each item is in exactly one batch, in order, and the batch's result or error is the item's
      expect(batches.flat()).toEqual(steps.map((_, item) => item));
      batches.forEach((items, batch) => {
        const fails = items.some((item) => steps[item]?.fails);
        for (const item of items) expect(got[item]).toBe(fails ? -1 - batch : batch);
        const weight = items.reduce((sum, item) => sum + (steps[item]?.weight ?? 0), 0);
        expect(weight <= maxBatch || items.length === 1).toBe(true);
      });
    }),
  );
});
