import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Breakdown, type Counter, decisions, emptyBreakdown } from '#libs/base/terms/terms';
import { fill, isReady } from '#libs/stats/redis/fill';
import { drop, raise } from '#libs/stats/redis-counters';
import { packedPage, readSame } from '../support/counter-stores.ts';
import { inKeyOrder } from '../support/counts.ts';
import { openRedis, openRedisServer } from '../support/stores.ts';

let count = 0;
const newOrganization = () => `org_${count++}`;

const connection = await openRedis((await openRedisServer()).url);

const counter = (organizationId: string, domainId: string, period: string, counts: Partial<Breakdown>): Counter => ({
  organizationId,
  domainId,
  period,
  ...emptyBreakdown(),
  ...counts,
});
const makeReady = (organizationId: string) => fill(connection, organizationId, async () => packedPage([]));
const keysOf = async (organizationId: string) => (await connection.client.keys(`*${organizationId}}*`)).sort();

const amount = fc.oneof(fc.nat(3), fc.nat(1_000_000), fc.constant(Number.MAX_SAFE_INTEGER));
const counts = fc.record({ accept_all: amount, reject_all: amount, custom: amount, withdraw: amount });
const place = fc.record({
  domainId: fc.constantFrom('', 'dom_a', 'dom_b'),
  period: fc.constantFrom('2024-02', '2024-02-28', '2024-02-29', '2024-03', '2024-03-01'),
});

describe('a raise', () => {
  it('keeps the largest of each count, in any order, grouping and number of raises', async () => {
    const raises = fc.array(fc.array(fc.tuple(place, counts), { maxLength: 6, size: 'max' }), {
      maxLength: 8,
      size: 'max',
    });
    await fc.assert(
      fc.asyncProperty(raises, fc.boolean(), async (batches, atOnce) => {
        const organizationId = newOrganization();
        const largest = new Map<string, Counter>();
        const asCounters = batches.map((batch) =>
          batch.map(([at, given]) => counter(organizationId, at.domainId, at.period, given)),
        );
        for (const given of asCounters.flat()) {
          const key = `${given.domainId} ${given.period}`;
          const expected = largest.get(key) ?? counter(organizationId, given.domainId, given.period, {});
          for (const decision of decisions) expected[decision] = Math.max(expected[decision], given[decision]);
          largest.set(key, expected);
        }
        if (atOnce) await Promise.all(asCounters.map((batch) => raise(connection.client, batch)));
        else for (const batch of asCounters) await raise(connection.client, batch);
        await makeReady(organizationId);
        const expected = inKeyOrder([...largest.values()]);
        expect(inKeyOrder((await readSame(connection, organizationId, expected)) ?? [])).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a drop', () => {
  it('removes every key of the organization, its mark and the fill under way, and of no other', async () => {
    const organizationId = newOrganization();
    const neighbour = newOrganization();
    for (const organization of [organizationId, neighbour]) {
      await raise(
        connection.client,
        ['', 'dom_a', 'dom_b'].flatMap((domainId) =>
          ['2024-02', '2024-02-01', '2024-03-01'].map((period) =>
            counter(organization, domainId, period, { custom: 1 }),
          ),
        ),
      );
      await makeReady(organization);
    }
    const before = await keysOf(neighbour);
    const filled = await fill(connection, organizationId, async () => {
      await drop(connection.client, organizationId);
      expect(await keysOf(organizationId)).toEqual([]);
      return packedPage([counter(organizationId, '', '2024-02', { custom: 1 })]);
    });
    expect(filled).toBe(false);
    expect(await isReady(connection, organizationId)).toBe(false);
    expect(await keysOf(neighbour)).toEqual(before);
    expect(await isReady(connection, neighbour)).toBe(true);
  });

  it('also removes counters that were raised after the set of keys was lost', async () => {
    const organizationId = newOrganization();
    const given = [counter(organizationId, '', '2024-02', { custom: 9 })];
    await raise(connection.client, given);
    await connection.client.del(`assent:{${organizationId}}:keys`);
    await raise(connection.client, [counter(organizationId, '', '2024-02', { custom: 10 })]);
    await drop(connection.client, organizationId);
    expect(await keysOf(organizationId)).toEqual([]);
  });
});
