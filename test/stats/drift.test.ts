import { beforeEach, describe, expect, it } from 'vitest';
import { persist } from '#libs/record/persist/persist';
import { findDrift, type Truth } from '#libs/stats/redis/drift';
import { fill } from '#libs/stats/redis/fill';
import { raise } from '#libs/stats/redis-counters';
import { countersSince } from '#libs/stats/stored-counters';
import { listerOf } from '../support/counter-stores.ts';
import { storedCounters } from '../support/counts.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';

const since = '2024-02-15';
const noon = '2024-02-20T12:00:00.000Z';

const { db } = await openDatabase();
const connection = await openRedis((await openRedisServer()).url);

describe('findDrift', () => {
  let tenant: Tenant;
  let organizationId: string;
  let domainId: string;
  beforeEach(async () => {
    tenant = await makeTenant(db, { domains: 2 });
    ({ organizationId } = tenant);
    [domainId = ''] = tenant.domainIds;
    await persist(db, [recordAt(noon, { domainId }), recordAt('2024-03-01', { domainId, decision: 'custom' })]);
    await fill(connection, organizationId, listerOf(db, organizationId));
  });

  const truth = () => countersSince(db, organizationId, since);
  const list: Truth['listCounters'] = (domainIds) => truth().listCounters(domainIds);
  const find = (listCounters = list) =>
    findDrift(connection, { organizationId, since, truth: { ...truth(), listCounters } }, 1);
  const places = (differences: { domainId: string; period: string }[]) =>
    differences.map((difference) => `${difference.domainId} ${difference.period}`).sort();

  it('does not find what is merely on its way', async () => {
    const { counters } = await persist(db, [recordAt(noon, { domainId })]);
    const { differences } = await find(async (domainIds) => {
      const listed = await list(domainIds);
      // Redis was read before this and is read again after the patience
      await raise(connection.client, counters);
      return listed;
    });
    expect(differences).toEqual([]);
  });

  it('does not take for ahead what was stored and raised while it looked', async () => {
    const { differences } = await find(async (domainIds) => {
      const listed = await list(domainIds);
      await raise(connection.client, (await persist(db, [recordAt(noon, { domainId })])).counters);
      return listed;
    });
    expect(differences).toEqual([]);
  });

  it('looks at days from `since` on and at months that contain it, no older ones', async () => {
    await persist(db, [
      recordAt('2024-01-31T23:59:59.999Z', { domainId }),
      recordAt('2024-02-14T23:59:59.999Z', { domainId }),
      recordAt('2024-02-15T00:00:00.000Z', { domainId }),
    ]);
    expect(places((await find()).differences)).toEqual(
      ['', domainId].flatMap((domain) => [`${domain} 2024-02`, `${domain} 2024-02-15`]).sort(),
    );
    const stored = await storedCounters(db, organizationId);
    await raise(connection.client, stored);
    expect((await find()).differences).toEqual([]);
    const tooHigh = stored.filter(({ period }) => ['2024-01', '2024-01-31', '2024-02-14'].includes(period));
    await raise(
      connection.client,
      tooHigh.map((counter) => ({ ...counter, custom: 99 })),
    );
    expect((await find()).differences).toEqual([]);
  });
});
