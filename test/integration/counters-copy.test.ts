import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { type Counter, decisions } from '#libs/contract/terms';
import { fill, isReady } from '#libs/counters/fill';
import { drop, raise } from '#libs/counters/raise';
import type { RedisConnection } from '#libs/runtime/redis';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { isAtMost, listerOf, readSame } from '../support/counter-stores.ts';
import { countRecords, storedCounters } from '../support/counts.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';

/** Last and first milliseconds around a leap day, and a day in the next month. */
const moments = [
  '2024-02-28T23:59:59.999Z',
  '2024-02-29T00:00:00.000Z',
  '2024-02-29T23:59:59.999Z',
  '2024-03-01T00:00:00.000Z',
  '2024-03-01T12:00:00.000Z',
];

type Fate = 'raised' | 'late' | 'lost';
type Step =
  | { do: 'deliver'; records: number[]; fate: Fate }
  | { do: 'raise late ones' | 'fill' | 'drop' | 'flush'; pick: number };

/** How many different records a run deals with. */
const pool = 40;
const deliver = fc.record({
  do: fc.constant('deliver' as const),
  // some more than once, in any order
  records: fc.array(fc.nat(pool - 1), { minLength: 1, maxLength: 25, size: 'max' }),
  fate: fc.constantFrom<Fate>('raised', 'raised', 'late', 'lost'),
});
const disturb = fc.record({
  do: fc.constantFrom('raise late ones', 'raise late ones', 'fill', 'fill', 'drop', 'flush'),
  pick: fc.nat(),
});
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof({ arbitrary: deliver, weight: 3 }, { arbitrary: disturb, weight: 2 }),
  { minLength: 1, maxLength: 14, size: 'max' },
);

describe('Redis is a copy of Postgres', () => {
  let db: Database;
  let connection: RedisConnection;

  beforeAll(async () => {
    ({ db } = await openDatabase());
    connection = await openRedis((await openRedisServer()).url);
  });

  const poolOf = ({ domainIds }: Tenant): NewRecord[] =>
    Array.from({ length: pool }, (_, index) =>
      recordAt(moments[index % moments.length] ?? '', {
        domainId: domainIds[index % domainIds.length] ?? '',
        decision: decisions[(index * 7) % 4] ?? 'custom',
      }),
    );

  it('whatever is repeated, reordered, delayed, lost and redelivered, and never ahead of it', async () => {
    let reads = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const tenant = await makeTenant(db, { domains: 3 });
        const { organizationId } = tenant;
        const records = poolOf(tenant);
        const list = listerOf(db, organizationId);
        const late: Counter[][] = [];
        const lost: NewRecord[][] = [];

        for (const step of script) {
          if (step.do === 'deliver') {
            const batch = step.records.flatMap((index) => records[index] ?? []);
            const { counters } = await persist(db, batch);
            if (step.fate === 'raised') await raise(connection.client, counters);
            else if (step.fate === 'late') late.unshift(counters);
            else lost.push(batch);
          } else if (step.do === 'raise late ones') {
            // the youngest first
            for (const counters of late.splice(0, 1 + (step.pick % 3))) await raise(connection.client, counters);
          } else if (step.do === 'fill') await fill(connection, organizationId, list);
          else if (step.do === 'drop') await drop(connection.client, organizationId);
          else await connection.client.flushall();

          const truth = await storedCounters(db, organizationId);
          const seen = await readSame(connection, organizationId, truth);
          for (const [index, counter] of (seen ?? []).entries()) {
            const committed = truth[index];
            expect(committed && isAtMost(counter, committed), `${counter.domainId} ${counter.period}`).toBe(true);
          }
          if (seen) reads += 1;
        }

        // the worker did not acknowledge these, so they come again; late raises arrive after all
        for (const batch of lost.reverse()) await raise(connection.client, (await persist(db, batch)).counters);
        for (const counters of late) await raise(connection.client, counters);
        if (!(await isReady(connection, organizationId))) await fill(connection, organizationId, list);
        const truth = await countRecords(db, organizationId);
        expect(await readSame(connection, organizationId, truth)).toEqual(truth);
        expect(await storedCounters(db, organizationId)).toEqual(truth);
      }),
      { numRuns: 50 },
    );
    expect(reads).toBeGreaterThan(0);
  });
});
