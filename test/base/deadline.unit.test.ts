import { expect, it, onTestFinished, vi } from 'vitest';
import type { Context } from '#libs/base/http/context';
import { deadline } from '#libs/base/http/deadline';

it('what takes longer than the contract’s 5 s ends before, as unavailable', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const answered = deadline({} as Context, () => new Promise(() => {})).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(4_500);
  expect(await answered).toMatchObject({ code: 'unavailable', message: expect.stringContaining('took too long') });
});
