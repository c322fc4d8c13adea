import { beforeAll, describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { decisions } from '#libs/contract/terms';
import { readOrganizationPage } from '#libs/store/records/organization-log';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { recordAt } from '../support/records.ts';
import { makeTenant, useDatabase } from '../support/stores.ts';

const period = { from: '2024-02-28', to: '2024-03-02' };

describe("an organization's newest records", () => {
  let db: Database;

  beforeAll(() => {
    ({ db } = useDatabase());
  });

  const walk = async (organizationId: string, limit: number) => {
    const seen: string[] = [];
    const totals = new Set<number>();
    let after: { id: string; domainId: string } | undefined;
    do {
      const query = { organizationId, ...period, limit, after };
      const page = await db.run((sql) => readOrganizationPage(sql, query));
      seen.push(...page.records.map(({ domainId, id }) => `${domainId} ${id}`));
      totals.add(page.total);
      after = page.more ? page.records.at(-1) : undefined;
    } while (after);
    return { seen, totals: [...totals] };
  };
  const newestFirst = (records: NewRecord[]) =>
    records.toSorted((one, other) => (one.id < other.id ? 1 : -1)).map(({ domainId, id }) => `${domainId} ${id}`);

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
    const records = times.flatMap((time) =>
      tenant.domainIds.flatMap((domainId) => decisions.map((decision) => recordAt(time, { domainId, decision }))),
    );
    await persist(db, [...records, ...stranger.domainIds.map((domainId) => recordAt('2024-02-29', { domainId }))]);
    const inPeriod = records.filter(({ receivedAt }) => receivedAt >= '2024-02-28' && receivedAt < '2024-03-03');
    for (const limit of [1, 7, 48, 100]) {
      const { seen, totals } = await walk(tenant.organizationId, limit);
      expect(seen).toEqual(newestFirst(inPeriod));
      expect(totals).toEqual([48]);
    }
  });

  it('is empty with a total of 0 where there are none', async () => {
    const { organizationId } = await makeTenant(db);
    expect(await walk(organizationId, 10)).toEqual({ seen: [], totals: [0] });
  });

  it('loses none at the end of a page where two domains have a record with the same id', async () => {
    const { organizationId, domainIds } = await makeTenant(db, { domains: 2 });
    const shared = recordAt('2024-02-29', { domainId: '' });
    await persist(
      db,
      domainIds.flatMap((domainId) => [{ ...shared, domainId }, recordAt('2024-02-28', { domainId })]),
    );
    const { seen, totals } = await walk(organizationId, 1);
    expect(totals).toEqual([4]);
    expect(new Set(seen).size).toBe(4);
  });
});
