import { expect, it } from 'vitest';
import { AssentError, errorOf } from '#libs/client/assent-error';

it('an error has how long to wait, in either form of the header, by the clock of whoever answered', async () => {
  const answered = async (header: string) =>
    (await errorOf(new Response(null, { status: 503, headers: { 'retry-after': header, date } }))).retryAfter;
  const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
  expect(await answered('120')).toBe(120_000);
  expect(await answered('Sun, 06 Nov 1994 08:59:37 GMT')).toBe(600_000);
  expect(await answered('Sunday, 06-Nov-94 08:59:37 GMT')).toBe(600_000);
  expect(await answered('Sun, 06 Nov 1994 08:49:36 GMT')).toBe(0);
  expect(await answered('later')).toBe(0);
  // a timer of a month would end at once
  expect(await answered('99999999999')).toBe(86_400_000);
  expect(new AssentError('offline', 'x').retryAfter).toBe(0);
});
