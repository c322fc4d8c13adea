/** `npm run demo` beside a running worker. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { RedisConnection } from '#libs/runtime/redis';
import { createAdministration } from '#libs/store/tenants/administration';
import { type Filled, fill } from '../../scripts/demo/fill.ts';
import { planDays, recordsOf } from '../../scripts/demo/visits.ts';
import { createCli } from '../support/cli.ts';
import { startWorker } from '../support/service.ts';
import { type OwnStores, openStores } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';

const periodOf = (records: number, months: number) => ({ records, months, until: Date.parse('2026-11-19T12:00:00Z') });
/** The ids that such a period makes. */
const made = (records: number, months: number): string[] => {
  const period = periodOf(records, months);
  return planDays(period)
    .flatMap((day) => recordsOf(day, period).map(({ id }) => id))
    .sort();
};

describe('filling the demo organization', () => {
  let stores: OwnStores;
  let redis: RedisConnection;
  let cli: ReturnType<typeof createCli>;

  beforeAll(async () => {
    stores = await openStores();
    redis = await openRedis(stores.redis.url);
    cli = createCli(stores.env);
  });

  const storedIds = (organizationId: string): Promise<string[]> =>
    stores.db.run(async (sql) => {
      const rows = await sql<{ id: string }[]>`
        select id from records where organization_id = ${organizationId} order by id::text`;
      return rows.map(({ id }) => id);
    });

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
    const target = { db: stores.db, admin, redis, queueShards: 1, organizationId };
    const filled = await fill(target, periodOf(records, months), { stop: stop.signal, say });
    return { ...filled, lines };
  };

  it('without a worker fails and queues nothing', async () => {
    const { organizationId } = await makeTenant(stores.db);
    await expect(fillWith(organizationId, 100, 1)).rejects.toThrow('No worker is running');
    expect(await cli.json('queue', 'status')).toMatchObject({ waiting: 0 });
    expect(await cli.json('domain', 'list', '--org', organizationId)).toMatchObject({ domains: [{}] });
  });

  describe('beside a worker', () => {
    beforeAll(async () => {
      await startWorker(stores.env);
    });

    it('stores and counts exactly what it made, and a second run adds nothing', async () => {
      const { organizationId } = await makeTenant(stores.db);
      const wanted = made(2_500, 12);
      const first = await fillWith(organizationId, 2_500, 12);
      expect(first).toMatchObject({ added: wanted.length, present: 0, differences: 0 });
      expect(await storedIds(organizationId)).toEqual(wanted);
      const { checked } = await cli.json<{ checked: number }>('counters', 'check', '--org', organizationId);
      expect(checked).toBeGreaterThan(365);
      const counted = () =>
        stores.db.run(async (sql) => {
          const [row] = await sql<{ days: number; months: number }[]>`
            select
              sum(accept_all + reject_all + custom + withdraw) filter (where length(period) = 10)::int as days,
              sum(accept_all + reject_all + custom + withdraw) filter (where length(period) = 7)::int as months
            from counters where organization_id = ${organizationId} and domain_id = ''`;
          return row;
        });
      expect(await counted()).toEqual({ days: wanted.length, months: wanted.length });

      const second = await fillWith(organizationId, 2_500, 12);
      expect(second).toMatchObject({ added: 0, present: wanted.length, differences: 0 });
      expect(await storedIds(organizationId)).toEqual(wanted);
      expect(await counted()).toEqual({ days: wanted.length, months: wanted.length });
    });

    it('stops with all that it sent stored and counted, and goes on when run again', async () => {
      const { organizationId } = await makeTenant(stores.db);
      const wanted = made(15_000, 6);
      const { added, differences, lines } = await fillWith(organizationId, 15_000, 6, 1);
      expect(lines).toEqual([expect.stringMatching(/^2026-\d\d {2}[\d,]+ records$/)]);
      expect(differences).toBe(0);
      expect(await storedIds(organizationId)).toHaveLength(added);
      expect(added).toBeGreaterThan(0);
      expect(added).toBeLessThan(wanted.length);
      expect(await cli.json('queue', 'status')).toMatchObject({ waiting: 0, active: 0, failed: 0 });

      const rest: Filled = await fillWith(organizationId, 15_000, 6);
      expect(rest).toMatchObject({ added: wanted.length - added, present: added, differences: 0 });
      expect(await storedIds(organizationId)).toEqual(wanted);
    });

    it('does not fill months that retention has dropped', async () => {
      const { organizationId } = await makeTenant(stores.db);
      await stores.db.run((sql) => sql`insert into record_months (month, dropped_at) values ('2025-01', now())`);
      await expect(fillWith(organizationId, 500, 24)).rejects.toThrow('2025-01');
      expect(await fillWith(organizationId, 100, 2)).toMatchObject({ added: made(100, 2).length });
    });

    it('refuses an organization that is not there', async () => {
      await expect(fillWith('org_x', 100, 1)).rejects.toThrow('no organization org_x');
    });
  });
});
