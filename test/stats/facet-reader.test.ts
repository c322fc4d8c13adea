/** Plain statistics have rates, which are in Postgres: what an API process asks for them, and how soon it has new ones. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addDays, dayOf, spanOf } from '#libs/base/terms/calendar';
import { persist } from '#libs/record/persist/persist';
import { createFacetReader, type Facet, type FacetQuestion, type FacetReader } from '#libs/stats/facets';
import { counting, through } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { closeOpenEpoch, deriveFacets } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';

const today = dayOf(Date.now());

const { db, sql } = await openDatabase();

describe('the reader of facets', () => {
  let question: FacetQuestion;
  let reader: FacetReader;
  let asked: () => number;
  const counted = counting(db);
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { organizationId, domainIds } = await makeTenant(db);
    const spans = [{ from: addDays(today, -40), to: today }];
    question = { organizationId, domainId: at(domainIds, 0), dimensions: ['source'], spans };
    reader = createFacetReader(counted.db);
    const before = counted.asked();
    asked = () => counted.asked() - before;
  });
  afterEach(() => void vi.useRealTimers());

  const choose = async () => {
    await persist(db, [recordAt(Date.now(), { domainId: question.domainId })]);
    await closeOpenEpoch(db);
    await deriveFacets(db);
  };
  const choicesOf = (facets: Facet[] | undefined) => facets?.reduce((sum, { choices }) => sum + choices, 0);
  const choices = async () => choicesOf(await reader.readIfQuick(question));

  it('asks twice for any number of plain responses, also concurrent ones', async () => {
    await choose();
    expect(await Promise.all(Array.from({ length: 50 }, choices))).toEqual(Array(50).fill(1));
    for (let each = 0; each < 50; each += 1) expect(await choices()).toBe(1);
    expect(asked()).toBe(2);
  });

  it('asks once a second whether facets have moved on, and has the new ones then', async () => {
    await choose();
    expect(await choices()).toBe(1);
    vi.advanceTimersByTime(1_000);
    expect([await choices(), asked()]).toEqual([1, 3]);
    await choose();
    vi.advanceTimersByTime(999);
    expect([await choices(), asked()]).toEqual([1, 3]);
    vi.advanceTimersByTime(1);
    expect([await choices(), asked()]).toEqual([2, 5]);
  });

  it('does not take what another Postgres has by the same epoch for what it knows', async () => {
    await choose();
    expect(await choices()).toBe(1);
    // as a restored one that has closed as many epochs since
    await sql`update facets set choices = 7 where length(period) = 10 and domain_number <> 0`;
    await sql`update closed_epochs set closed_at = closed_at + interval '1 ms'`;
    vi.advanceTimersByTime(1_000);
    expect(await choices()).toBe(7);
  });

  it('shares no read that began before facets moved', async () => {
    await choose();
    // a statement that is still under way is as old as its beginning
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let reads = 0;
    reader = createFacetReader(
      through(db, async (ask) => {
        reads += 1;
        const isFirst = reads === 2;
        const found = await ask(db);
        if (isFirst) await held;
        return found;
      }),
    );
    const before = reader.read(question, await reader.through());
    await choose();
    vi.advanceTimersByTime(1_000);
    expect(await choices()).toBe(2);
    letGo();
    expect(choicesOf(await before)).toBe(1);
    expect(await choices()).toBe(2);
  });

  it('keeps questions apart: days, domains and what is wanted of them', async () => {
    await choose();
    expect(await choices()).toBe(1);
    const others = [
      { ...question, domainId: '' },
      { ...question, spans: [spanOf(addDays(today, -1))] },
      { ...question, dimensions: ['crawlers' as const] },
    ];
    for (const other of others) expect(choicesOf(await reader.readIfQuick(other))).toBe(other.domainId === '' ? 1 : 0);
    const [ofDay] = (await reader.readIfQuick({ ...question, isByPeriod: true })) ?? [];
    expect(ofDay?.period).toBe(today);
  });

  it('asks in a slot, and not at all where another has read it meanwhile', async () => {
    await choose();
    let slots = 0;
    const inSlot = async <T>(work: () => Promise<T>): Promise<T> => {
      slots += 1;
      if (slots === 2) await reader.read(question, await reader.through());
      return work();
    };
    expect(choicesOf(await reader.readIfQuick({ ...question, domainId: '' }, inSlot))).toBe(1);
    expect(choicesOf(await reader.readIfQuick(question, inSlot))).toBe(1);
    expect(choicesOf(await reader.readIfQuick(question, inSlot))).toBe(1);
    expect([slots, asked()]).toEqual([2, 3]);
  });
});
