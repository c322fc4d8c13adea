import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import type { DatabaseOptions } from '#libs/base/db/database';
import { createDisplayCounter, type DisplayBuffer } from '#libs/stats/display-buffer';
import { createStatsMetrics } from '#libs/stats/metrics';
import { deleteOldFlushes, storeDisplays } from '#libs/stats/stored-displays';
import { type Gate, openGate } from '../support/gate.ts';
import { openPool } from '../support/pool.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const flush = '018f0000-0000-4000-8000-000000000001';

const { db, sql, url } = await openDatabase();
const { organizationId, domainIds } = await makeTenant(db);
const domainId = at(domainIds, 0);

describe('displays of the banner', () => {
  let counter: DisplayBuffer | undefined;
  afterEach(async () => {
    await counter?.close();
    counter = undefined;
    await sql`truncate displays, display_flushes`;
  });

  const row = (displays: number, fields: object = {}) => ({
    domainId,
    day: '2026-11-27',
    bannerVersion: '',
    variant: '',
    language: '',
    displays,
    ...fields,
  });
  const stored = () =>
    sql<{ variant: string; displays: number }>`
        select d.id as "domainId", day, banner_version as "bannerVersion", variant, language, displays
        from displays join domains d on d.number = domain_number order by displays.number`;
  const sum = async () => (await stored()).reduce((all, { displays }) => all + displays, 0);
  const flushes = async () => (await sql`select from display_flushes`).length;

  /** A counter whose Postgres is behind the gate, over one connection. */
  const countThrough = (gate: Gate, options: Partial<DatabaseOptions> = {}) => {
    const metrics = createStatsMetrics(new Registry());
    const through = openPool(gate.url, { max: 1, ...options });
    const store = (each: Parameters<typeof storeDisplays>[1]) => storeDisplays(through, each);
    const told: object[] = [];
    const log = { warn: (fields: object) => void told.push(fields) };
    const made = createDisplayCounter({ store, metrics, log });
    counter = {
      ...made,
      close: async () => {
        await made.close();
        await through.close();
      },
    };
    const storedSoFar = async () =>
      (await metrics.displays.get()).values.find(({ labels }) => labels.outcome === 'stored')?.value ?? 0;
    return { counter: made, storedSoFar, told };
  };

  it('are stored once, however often a flush comes, and those of a deleted domain are left out', async () => {
    const rows = [row(3, { variant: 'a', language: 'de', bannerVersion: '2' }), row(1, { domainId: 'dom_gone' })];
    await Promise.all(Array.from({ length: 4 }, () => storeDisplays(db, { id: flush, rows })));
    await storeDisplays(db, { id: flush, rows });
    expect(await stored()).toEqual(rows.slice(0, 1));
    await sql`update display_flushes set stored_at = now() - interval '7 days'`;
    expect(await deleteOldFlushes(db)).toBe(0);
    await sql`update display_flushes set stored_at = now() - interval '193 hours'`;
    // of two clocks the earlier one counts
    expect(await deleteOldFlushes(db, new Date(Date.now() - 3 * 3_600_000))).toBe(0);
    expect(await deleteOldFlushes(db)).toBe(1);
  });

  it('count once although the response of Postgres got lost, and continue meanwhile', async () => {
    const gate = await openGate(url);
    const { counter, storedSoFar } = countThrough(gate);
    const count = (times: number) => {
      for (let each = 0; each < times; each += 1)
        counter.count({ domainId, organizationId }, Date.now(), { variant: 'a' });
    };
    // from now on the statement is prepared: it reaches Postgres in one go
    count(3);
    await eventually(async () => expect(await storedSoFar()).toBe(3));
    gate.loseAnswers();
    count(2);
    await eventually(async () => expect(await sum()).toBe(5));
    count(4);
    gate.open();
    await counter.close();
    expect([await storedSoFar(), await sum(), await flushes()]).toEqual([9, 9, 3]);
  });

  it('are stored at the end, and those that Postgres does not take in time are logged', async () => {
    const gate = await openGate(url);
    const { counter: first } = countThrough(gate);
    first.count({ domainId, organizationId }, Date.now(), {});
    await counter?.close();
    expect(await sum()).toBe(1);
    const { counter: second, told } = countThrough(gate, { statementTimeout: 400, deadline: 500 });
    gate.freeze();
    second.count({ domainId, organizationId }, Date.now(), {});
    await counter?.close();
    expect(await sum()).toBe(1);
    expect(told.at(-1)).toMatchObject({ displays: 1 });
  });
});
