import { describe, expect, it } from 'vitest';
import { addDays, dayOf, startOf } from '#libs/base/terms/calendar';
import { decisions } from '#libs/base/terms/terms';
import { readOrganizationPage } from '#libs/log/pages/organization-page';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { recordAt } from '../support/records.ts';
import { makeTenant, useDatabase } from '../support/stores.ts';

const period = { from: '2024-02-28', to: '2024-03-02' };

const { db, sql } = useDatabase();

describe("an organization's newest records", () => {
  const walk = async (organizationId: string, limit: number, days = period) => {
    const seen: string[] = [];
    const totals = new Set<number>();
    let after: { id: string; domainId: string } | undefined;
    do {
      const query = { ...days, organizationId, limit, after };
      const page = await db.run((sql) => readOrganizationPage(sql, query));
      seen.push(...page.records.map(({ domainId, id }) => `${domainId} ${id}`));
      totals.add(page.total);
      after = page.more ? page.records.at(-1) : undefined;
    } while (after);
    return { seen, totals: [...totals] };
  };
  /** Page by page all of `records`, each once. */
  const expectAll = async (records: NewRecord[], organizationId: string, limits: number[], days = period) => {
    for (const limit of limits) {
      const { seen, totals } = await walk(organizationId, limit, days);
      const ids = records.map(({ id }) => id).toSorted();
      expect(seen.map((each) => each.split(' ')[1])).toEqual(ids.reverse());
      expect(new Set(seen)).toEqual(new Set(records.map(({ domainId, id }) => `${domainId} ${id}`)));
      expect(totals).toEqual([records.length]);
    }
  };

  it('are those of all its domains and of no other, within the days, newest first, page by page', async () => {
    const [tenant, stranger] = [await makeTenant(db, { domains: 3 }), await makeTenant(db)];
    const times = [
      '2024-02-27T23:59:59.999Z',
      '2024-02-28T00:00:00.000Z',
      '2024-02-29T12:00:00.000Z',
      '2024-03-01T00:00:00.000Z',
      '2024-03-02T23:59:59.999Z',
      '2024-03-03T00:00:00.000Z',
    ];
    // two domains may have records with one id
    const records = times.flatMap((time) =>
      decisions.flatMap((decision) => {
        const record = recordAt(time, { domainId: '', decision });
        return tenant.domainIds.map((domainId) => ({ ...record, domainId }));
      }),
    );
    await persist(db, [...records, ...stranger.domainIds.map((domainId) => recordAt('2024-02-29', { domainId }))]);
    const inPeriod = records.filter(({ receivedAt }) => receivedAt >= '2024-02-28' && receivedAt < '2024-03-03');
    await expectAll(inPeriod, tenant.organizationId, [1, 7, 48, 100]);
  });

  /** Domains from the fifty-first on make an organization large. */
  const enlarge = (organizationId: string) =>
    sql`
        insert into domains (id, organization_id, name)
        select ${organizationId} || n, ${organizationId}, 'one of many' from generate_series(1, 60) as n`;
  const isIndexed = (organizationId: string) =>
    db.run(async (sql) => {
      const [found] = await sql<{ n: number }[]>`
        select count(*) as n from records
        where organization_number = (select number from organizations where id = ${organizationId})`;
      return found?.n;
    });

  it('are the same where an organization is large, and one after the other of its domains has some', async () => {
    const { organizationId, domainIds } = await makeTenant(db, { domains: 2 });
    await enlarge(organizationId);
    const many = [...domainIds, ...Array.from({ length: 60 }, (_, n) => organizationId + (n + 1))];
    const shared = recordAt('2024-02-29', { domainId: '' });
    const records = many.flatMap((domainId, n) => [
      { ...shared, domainId },
      recordAt(startOf('2024-03-01') + n, { domainId }),
      recordAt(startOf('2024-03-01'), { domainId }),
    ]);
    await persist(db, records);
    expect(await isIndexed(organizationId)).toBe(records.length);
    await expectAll(records, organizationId, [50, 1_000]);
  });

  it('are all there while an organization has become large within the days', async () => {
    const { organizationId, domainIds } = await makeTenant(db, { domains: 2 });
    const now = Date.now();
    const each = (from: number, to: number) =>
      domainIds.flatMap((domainId) =>
        Array.from({ length: 10 }, (_, n) => recordAt(from + ((to - from) * n) / 10, { domainId })),
      );
    const before = each(now - 3_600_000, now + 300_000);
    await persist(db, before);
    await enlarge(organizationId);
    const after = [...each(now - 3_600_000, now + 300_000), ...each(now + 600_000, now + 1_200_000)];
    await persist(db, after);
    expect(await isIndexed(organizationId)).toBe(after.length);
    const today = dayOf(now);
    const days = { from: addDays(today, -1), to: addDays(today, 1) };
    await expectAll([...before, ...after], organizationId, [7, 15, 100], days);
  });
});
