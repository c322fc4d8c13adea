import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRefusedOrigins } from '../../apps/api/access/refused-origins.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('refused origins are written ten a second, by turns: a flood on one domain hides none of another', () => {
  const written: string[] = [];
  const sql = (_: TemplateStringsArray, origin: string, domainId: string) => written.push(`${domainId} ${origin}`);
  const db = { run: async (work: (given: unknown) => unknown) => work(sql) };
  const origins = createRefusedOrigins({ db, log: { debug: () => {} } } as unknown as Parameters<
    typeof createRefusedOrigins
  >[0]);
  for (let number = 0; number < 5_000; number += 1) origins.note('dom_flood', `https://o${number}.example`);
  origins.note('dom_quiet', 'https://shop.example');
  expect(written.length).toBe(10);
  vi.advanceTimersByTime(1_000);
  expect(written).toContain('dom_quiet https://shop.example');
  vi.advanceTimersByTime(60_000);
  // of the flood only as many waited as are shown
  expect(written.length).toBe(21);
});
