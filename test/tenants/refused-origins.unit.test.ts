import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRefusedOriginLog } from '#libs/tenants/refused-origins';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  const written: string[] = [];
  const sql = (_: TemplateStringsArray, origin: string, domainId: string) => written.push(`${domainId} ${origin}`);
  const db = { write: async (work: (given: unknown) => unknown) => work(sql) };
  const tenants = { knownDomain: (domainId: string) => ({ organizationId: domainId.split('.')[0] }) };
  const origins = createRefusedOriginLog({ db, log: { debug: () => {} }, tenants } as unknown as Parameters<
    typeof createRefusedOriginLog
  >[0]);
  return { origins, written };
}

it('refused origins are written ten a second, by turns: a flood on many domains of one organization hides none of another', () => {
  const { origins, written } = open();
  for (let number = 0; number < 50; number += 1)
    for (let domain = 0; domain < 20; domain += 1) origins.note(`flood.${domain}`, `https://o${number}.example`);
  origins.note('quiet.1', 'https://shop.example');
  expect(written.length).toBe(10);
  vi.advanceTimersByTime(1_000);
  expect(written).toContain('quiet.1 https://shop.example');
  vi.advanceTimersByTime(60_000);
  // of the flood only as many waited as are shown
  expect(written.length).toBe(211);
});

it('of very many organizations at once some thousands wait, and one of each', () => {
  const { origins, written } = open();
  for (let organization = 0; organization < 22; organization += 1)
    for (let domain = 0; domain < 100; domain += 1)
      for (let number = 0; number < 10; number += 1)
        origins.note(`flood-${organization}.${domain}`, `https://o${number}.example`);
  for (const domain of [1, 2]) origins.note(`quiet.${domain}`, 'https://shop.example');
  vi.advanceTimersByTime(10_000);
  expect(written).toContain('quiet.1 https://shop.example');
  vi.advanceTimersByTime(2_100_000);
  // ten were written at once, and one waits of each organization for which there was no more room
  expect(written.length).toBe(10 + 20_000 + 1 + 1);
});
