import { expect, it, onTestFinished, vi } from 'vitest';
import { createPieceSize } from '#libs/epochs/piece-size';
import { createCatchingUp } from '#libs/proof/seal/catching-up';
import type { Step } from '#libs/proof/seal/steps';

it('a log that fails only after longer than a turn lasts delays the others once', async () => {
  let time = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
  onTestFinished(() => clock.mockRestore());
  const [failing, ...others] = [1, 2, 3].map((domainNumber) => ({ domainNumber, waitsFrom: 5 }));
  const steps: Step[] = [1, 2, 3].map((domainNumber) => ({ domainNumber, from: 5, epoch: 5, records: 1, next: 6 }));
  const caughtUp: number[] = [];
  const catchUp = createCatchingUp({
    size: createPieceSize(1),
    plan: async () => ({ end: 6, steps, isCurrent: () => true }),
    catchUp: async ([step]) => {
      if (step?.domainNumber === failing?.domainNumber) {
        time += 8_000;
        throw new Error('too slow');
      }
      caughtUp.push(step?.domainNumber ?? 0);
      return { hasGrown: true, rest: [] };
    },
  });
  const { signal } = new AbortController();
  const round = () => catchUp([failing ?? expect.fail(), ...others], signal);
  await expect(round()).rejects.toThrow('too slow');
  expect(caughtUp).toEqual([]);
  await expect(round()).rejects.toThrow('too slow');
  expect(caughtUp).toEqual([2, 3]);
});
