/** `npm run demo`, without a worker and beside a running one. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createAdministration } from '#libs/tenants/administration';
import { displaysOf, type Filled, fill } from '../../scripts/demo/fill.ts';
import { planDays, recordsOf } from '../../scripts/demo/visits.ts';
import { createCli } from '../support/cli.ts';
import { countOwed, countRecords, inKeyOrder, storedCounters } from '../support/counts.ts';
import { startWorkerProcess } from '../support/service.ts';
import { openStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const periodOf = (records: number, months: number) => ({ records, months, until: Date.parse('2026-11-19T12:00:00Z') });
/** The ids that such a period makes. */
const made = (records: number, months: number): string[] => {
  const period = periodOf(records, months);
  return planDays(period)
    .flatMap((day) => recordsOf(day, period).map(({ id }) => id))
    .sort();
};

const stores = await openStores();
const cli = createCli(stores.env);

describe('filling the demo organization', () => {
  const storedIds = (organizationId: string): Promise<string[]> =>
    stores.db.run(async (sql) => {
      const rows = await sql<{ id: string }[]>`
        select records.id from records join domains on domains.number = domain_number
        where organization_id = ${organizationId} order by records.id::text`;
      return rows.map(({ id }) => id);
    });

  /** The titles of what the visitors were shown, of each record whose notice is held. */
  const shownTo = (organizationId: string): Promise<string[]> =>
    stores.db.run(async (sql) => {
      const rows = await sql<{ title: string }[]>`
        select convert_from(document, 'UTF8')::json ->> 'title' as title
        from records join domains on domains.number = records.domain_number
        join notices on notices.number = notice_number
        where organization_id = ${organizationId} and document is not null`;
      return rows.map(({ title }) => title);
    });

  const storedDisplays = (organizationId: string): Promise<number> =>
    stores.db.run(async (sql) => {
      const [row] = await sql<{ shown: number }[]>`
        select sum(shown)::integer as shown from (
          select displays as shown from displays join domains on domains.number = domain_number
          where organization_id = ${organizationId}
          union all
          select facets.displays from facets join domains on domains.number = domain_number
          where organization_id = ${organizationId} and dimension = 'source' and length(period) = 10
        ) as both_places`;
      return row?.shown ?? 0;
    });
  const madeDisplays = (records: number, months: number): number => {
    const period = periodOf(records, months);
    const all = planDays(period).flatMap((day) =>
      recordsOf(day, period).map((record) => ({ ...record, domainId: day.site.name })),
    );
    return displaysOf(all).reduce((sum, { displays }) => sum + displays, 0);
  };

  /** `stopAfter`: stops once so many lines were said. */
  const fillWith = async (
    organizationId: string,
    records: number,
    months: number,
    stopAfter = Number.POSITIVE_INFINITY,
  ) => {
    const admin = createAdministration(stores.db, 'test');
    const stop = new AbortController();
    const lines: string[] = [];
    const say = (line: string) => {
      lines.push(line);
      if (lines.length >= stopAfter) stop.abort();
    };
    const target = { db: stores.db, admin, organizationId };
    const filled = await fill(target, periodOf(records, months), { stop: stop.signal, say });
    return { ...filled, lines };
  };

  /** Once the worker has raised what is owed, Redis and Postgres agree on every counter. */
  const expectCounted = async (organizationId: string) => {
    const { db } = stores;
    await eventually(async () => expect(await countOwed(db, organizationId)).toBe(0));
    const { checked } = await cli.json<{ checked: number }>('counters', 'check', '--org', organizationId);
    const stored = await storedCounters(db, organizationId);
    expect(checked).toBe(stored.length);
    expect(inKeyOrder(stored)).toEqual(inKeyOrder(await countRecords(db, organizationId)));
  };

  it('without a worker stores what it made, and owes Redis the counters', async () => {
    const { organizationId } = await makeTenant(stores.db);
    expect(await fillWith(organizationId, 100, 1)).toMatchObject({ added: made(100, 1).length, present: 0 });
    expect(await storedIds(organizationId)).toEqual(made(100, 1));
    expect(await countOwed(stores.db, organizationId)).toBeGreaterThan(0);
    expect(await cli.json('queue', 'status')).toMatchObject({ waiting: 0 });
  });

  describe('beside a worker', () => {
    beforeAll(async () => {
      await startWorkerProcess(stores.env);
    });

    it('stores and counts exactly what it made, and a second run adds nothing', async () => {
      const { organizationId } = await makeTenant(stores.db);
      const wanted = made(600, 12);
      const first = await fillWith(organizationId, 600, 12);
      expect(first).toMatchObject({ added: wanted.length, present: 0 });
      expect(await storedIds(organizationId)).toEqual(wanted);
      expect(await shownTo(organizationId)).toHaveLength(wanted.length);
      expect(await shownTo(organizationId)).toContain('Ihre Daten, Ihre Entscheidung');
      await expectCounted(organizationId);

      const second = await fillWith(organizationId, 600, 12);
      expect(second).toMatchObject({ added: 0, present: wanted.length });
      expect(await storedIds(organizationId)).toEqual(wanted);
      expect(await storedDisplays(organizationId)).toBe(madeDisplays(600, 12));

      expect(await fillWith(organizationId, 700, 12)).toMatchObject({ present: wanted.length });
      expect(await storedDisplays(organizationId)).toBe(madeDisplays(700, 12));
      await expectCounted(organizationId);
    });

    it('stops with all that it sent stored and counted, and goes on when run again', async () => {
      const { organizationId } = await makeTenant(stores.db);
      const wanted = made(6_500, 6);
      const { added, lines } = await fillWith(organizationId, 6_500, 6, 1);
      expect(lines).toEqual([expect.stringMatching(/^until 2026-\d\d-\d\d: [\d,]+ records$/)]);
      expect(await storedIds(organizationId)).toHaveLength(added);
      expect(added).toBeGreaterThan(0);
      expect(added).toBeLessThan(wanted.length);
      await expectCounted(organizationId);

      const rest: Filled = await fillWith(organizationId, 6_500, 6);
      expect(rest).toMatchObject({ added: wanted.length - added, present: added });
      expect(await storedIds(organizationId)).toEqual(wanted);
      expect(await storedDisplays(organizationId)).toBe(madeDisplays(6_500, 6));
      await expectCounted(organizationId);
    });

    it('does not fill months that retention has dropped', async () => {
      const { organizationId } = await makeTenant(stores.db);
      await stores.sql`insert into record_months (month, dropped_at) values ('2025-01', now())`;
      await expect(fillWith(organizationId, 500, 24)).rejects.toThrow('2025-01');
      expect(await fillWith(organizationId, 100, 2)).toMatchObject({ added: made(100, 2).length });
    });
  });
});
