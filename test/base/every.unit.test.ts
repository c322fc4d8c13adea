import { expect, it } from 'vitest';
import { every } from '#libs/base/timers';
import { eventually } from '../support/wait.ts';

it('rounds continue after failures, each is reported, and a repeated one is no news', async () => {
  const results = ['a', 'a', 'b', undefined, 'b'];
  const reported: [string, boolean][] = [];
  let begun = 0;
  const rounds = every({
    name: 'some',
    pace: 1,
    task: async () => {
      const result = results[begun];
      begun += 1;
      if (result !== undefined) throw new Error(result);
    },
    failed: (error, isNews) => reported.push([String(error), isNews]),
  });
  await eventually(() => expect(begun).toBeGreaterThan(results.length));
  await rounds.stop();
  expect(rounds.isWell()).toBe(true);
  expect(reported).toEqual([
    ['Error: a', true],
    ['Error: a', false],
    ['Error: b', true],
    ['Error: b', true],
  ]);
});

it('a round on request runs at once, never beside another, and none begins after the end', async () => {
  let ends: (() => void)[] = [];
  let begun = 0;
  const rounds = every({
    name: 'some',
    pace: 3_600_000,
    task: (signal) => {
      begun += 1;
      return new Promise<void>((resolve) => {
        ends.push(resolve);
        signal.addEventListener('abort', () => resolve());
      });
    },
    failed: () => {},
  });
  const first = rounds.now();
  const second = rounds.now();
  await eventually(() => expect(begun).toBe(1));
  ends.pop()?.();
  await first;
  await eventually(() => expect(begun).toBe(2));
  await rounds.stop();
  await second;
  ends = [];
  await rounds.now();
  expect(begun).toBe(2);
});
