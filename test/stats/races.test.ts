/**
 * The guarantee for a reader while raises, fills and FLUSHALLs race. Let a read begin at b and end at e. It returns null,
 * or for every counter a value that
 *   1. is at most what Postgres holds at e: nothing is shown that was not committed;
 *   2. is at least what every raise that had ended before b raised to: what the worker finished is not lost again, since
 *      a flush takes the mark with it and a fill reads Postgres after the flush;
 *   3. is at least what any earlier read showed: a count never goes back.
 */
import { describe, expect, it } from 'vitest';
import type { RedisConnection } from '#libs/base/redis/connection';
import { spanOf } from '#libs/base/terms/calendar';
import { type Breakdown, decisions, emptyBreakdown, totalOf } from '#libs/base/terms/terms';
import { persist } from '#libs/record/persist/persist';
import { fill } from '#libs/stats/redis/fill';
import { readCounters } from '#libs/stats/redis/read';
import { raise } from '#libs/stats/redis-counters';
import { isAtMost, listerOf, readSame } from '../support/counter-stores.ts';
import { countRecords } from '../support/counts.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer } from '../support/stores.ts';

/** Each kind of event is seen at least this often before the race ends. */
const enough = 12;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const { db, sql } = await openDatabase();
const redisUrl = (await openRedisServer()).url;

describe('a reader, while writers, fills and flushes race', () => {
  it('sees nothing uncommitted, nothing finished missing, and no count go back', async () => {
    const { organizationId, domainIds } = await makeTenant(db, { domains: 5 });
    const period = '2024-02-29';
    // nobody writes here while the others race: only a fill brings it back after a flush
    const quiet = domainIds.pop() ?? '';
    const before = await persist(db, [recordAt('2024-02-29T00:00:00.000Z', { domainId: quiet, decision: 'custom' })]);
    await raise((await openRedis(redisUrl)).client, before.counters);
    // each on a connection of its own, so that their commands can overtake each other
    const [writing, filling, reading] = await Promise.all([
      openRedis(redisUrl),
      openRedis(redisUrl),
      openRedis(redisUrl),
    ]);
    const list = listerOf(db, organizationId);
    let running = true;
    let written = 0;
    let flushes = 0;
    let fills = 0;
    let reads = 0;
    let answeredSinceFlush = 0;
    let finished = emptyBreakdown();
    let shown = emptyBreakdown();

    const write = async (writer: number) => {
      for (let n = 0; Math.min(n, flushes, fills, reads) < enough && running; n += 1) {
        const decision = decisions[n % 4] ?? 'custom';
        const domainId = domainIds[(n + writer) % domainIds.length] ?? '';
        const { counters } = await persist(db, [recordAt('2024-02-29T12:00:00.000Z', { domainId, decision })]);
        await raise(writing.client, counters);
        written += 1;
        const day = counters.find((counter) => counter.domainId === '' && counter.period === period);
        if (day) finished = largest(finished, day);
      }
    };
    const fillAgain = async () => {
      while (running) {
        if (await fill(filling, organizationId, list)) fills += 1;
        await turn();
      }
    };
    const flush = async (connection: RedisConnection) => {
      while (running) {
        if (answeredSinceFlush > 1) {
          answeredSinceFlush = 0;
          await connection.client.flushall();
          flushes += 1;
        }
        await turn();
      }
    };
    const committedNow = async () => {
      const [row] = await sql<Breakdown>`
          select accept_all, reject_all, custom, withdraw from counters
          where organization_id = ${organizationId} and domain_id = '' and period = ${period}`;
      return row ?? emptyBreakdown();
    };
    const read = async () => {
      while (running) {
        const atLeast = largest(finished, shown);
        const counts = await readCounters(reading, { organizationId, domainId: '', spans: [spanOf(period)] });
        const still = await readCounters(reading, { organizationId, domainId: quiet, spans: [spanOf(period)] });
        const atMost = await committedNow();
        if (still) expect(still.get(period)?.custom, 'the domain that is quiet').toBe(1);
        if (counts) {
          const seen = counts.get(period) ?? emptyBreakdown();
          expect(isAtMost(seen, atMost), `${JSON.stringify(seen)} is ahead of ${JSON.stringify(atMost)}`).toBe(true);
          expect(isAtMost(atLeast, seen), `${JSON.stringify(seen)} misses some of ${JSON.stringify(atLeast)}`).toBe(
            true,
          );
          shown = seen;
          reads += 1;
          answeredSinceFlush += 1;
        }
        await turn();
      }
    };
    const until = async (work: Promise<unknown>) => {
      try {
        await work;
      } finally {
        running = false;
      }
    };
    const watchers = [fillAgain(), flush(filling), read()].map((watcher) => until(watcher));
    await Promise.all([until(Promise.all([write(0), write(1), write(2)])), ...watchers]);

    expect(totalOf(finished)).toBe(written + 1);
    const truth = await countRecords(db, organizationId);
    if (!(await readSame(reading, organizationId, truth))) await fill(filling, organizationId, list);
    expect(await readSame(reading, organizationId, truth)).toEqual(truth);
  });
});

function largest(one: Breakdown, other: Breakdown): Breakdown {
  const result = emptyBreakdown();
  for (const decision of decisions) result[decision] = Math.max(one[decision], other[decision]);
  return result;
}
