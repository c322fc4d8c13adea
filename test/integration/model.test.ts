/**
 * The whole of recording against a model of a few lines: the set of stored records. Random interleavings of everything
 * that can happen to a job, to its raise and to Redis must leave Postgres and Redis equal to the model once all is quiet,
 * and must never show a count that the model has not reached.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayOf, firstDay, monthOf, spanOf, startOf } from '#libs/contract/calendar';
import type { NewRecord } from '#libs/contract/record';
import { type Counter, decisions, emptyBreakdown } from '#libs/contract/terms';
import { timeOf } from '#libs/contract/uuid';
import { fill, isReady } from '#libs/counters/fill';
import { drop, raise } from '#libs/counters/raise';
import { readCounters } from '#libs/counters/read';
import type { RedisConnection } from '#libs/runtime/redis';
import { listOwedRaises } from '#libs/store/owed-raises';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { sweepOwedRaises } from '../../apps/worker/heal/owed-raises.ts';
import { reconcile } from '../../apps/worker/heal/reconcile.ts';
import { listerOf, quiet } from '../support/counter-stores.ts';
import { countRecords, inKeyOrder, storedCounters } from '../support/counts.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';

/** Both sides of a day's and of a month's edge, recent enough for reconcile to look at. */
const today = startOf(dayOf(Date.now()));
const monthStart = startOf(firstDay(monthOf(Date.now() - 86_400_000)));
const times = [today - 1, today, monthStart - 1, monthStart];
const periods = [
  ...new Set(times.map((time) => new Date(time).toISOString()).flatMap((at) => [at.slice(0, 10), at.slice(0, 7)])),
];

/** The four counters of a record. */
const placesOf = (id: string, domainId: string) =>
  [domainId, ''].flatMap((level) => [dayOf, monthOf].map((of): [string, string] => [level, of(timeOf(id))]));

class Model {
  /** what is stored, by domain and id */
  readonly stored = new Map<string, NewRecord>();

  /** Of two records with one id on a domain the first is stored. */
  store(records: NewRecord[]): void {
    for (const record of records) {
      const key = `${record.domainId} ${record.id}`;
      if (!this.stored.has(key)) this.stored.set(key, record);
    }
  }

  /** Every counter that is not zero, or those that `records` touch. */
  counters(organizationId: string, records: Iterable<NewRecord> = this.stored.values()): Counter[] {
    const found = new Map<string, Counter>();
    for (const { id, domainId, decision } of this.stored.values()) {
      for (const [level, period] of placesOf(id, domainId)) {
        const key = `${level} ${period}`;
        const counter = found.get(key) ?? { organizationId, domainId: level, period, ...emptyBreakdown() };
        counter[decision] += 1;
        found.set(key, counter);
      }
    }
    const touched = new Set(
      [...records].flatMap(({ id, domainId }) => placesOf(id, domainId).map((place) => place.join(' '))),
    );
    return inKeyOrder([...found].flatMap(([key, counter]) => (touched.has(key) ? [counter] : [])));
  }
}

/** What really happens: jobs that wait or wait again, raises that are on their way, and the two stores. */
class Real {
  /** all that were ever recorded */
  readonly records: NewRecord[] = [];
  readonly jobs: NewRecord[][] = [];
  readonly raises: Counter[][] = [];
  constructor(
    readonly db: Database,
    readonly redis: RedisConnection,
    readonly tenant: Tenant,
  ) {}

  fill = () => fill(this.redis, this.tenant.organizationId, listerOf(this.db, this.tenant.organizationId));
}

/** Persists a job. Returns the absolute counts of all that it touches, also where nothing of it is new. */
async function store(model: Model, { db, tenant }: Real, job: NewRecord[], options = {}): Promise<Counter[]> {
  const before = model.stored.size;
  const { added, counters } = await persist(db, job, options);
  model.store(job);
  expect(added).toBe(model.stored.size - before);
  expect(inKeyOrder(counters)).toEqual(model.counters(tenant.organizationId, job));
  return counters;
}

type Step = fc.AsyncCommand<Model, Real>;

const step = (name: string, run: (model: Model, real: Real) => Promise<void>): Step => ({
  check: () => true,
  run,
  toString: () => name,
});

/** What Redis shows of these periods; undefined without the mark. */
async function shown(redis: RedisConnection, { organizationId, domainIds }: Tenant, periods: string[]) {
  const spans = periods.map(spanOf);
  const found: Counter[] = [];
  for (const domainId of ['', ...domainIds]) {
    const counts = await readCounters(redis, { organizationId, domainId, spans });
    if (!counts) return undefined;
    found.push(...Array.from(counts, ([period, breakdown]) => ({ organizationId, domainId, period, ...breakdown })));
  }
  return inKeyOrder(found);
}

/** After every step: what Redis shows is nothing, or at most the truth. */
async function checkShown(model: Model, { redis, tenant }: Real): Promise<void> {
  const truth = model.counters(tenant.organizationId);
  for (const { domainId, period, ...counts } of (await shown(redis, tenant, periods)) ?? []) {
    const most = truth.find((counter) => counter.domainId === domainId && counter.period === period);
    for (const decision of decisions) expect(counts[decision]).toBeLessThanOrEqual(most?.[decision] ?? 0);
  }
}

const pick = <T>(items: T[], at: number): T | undefined => items[at % Math.max(1, items.length)];
const take = <T>(items: T[], at: number): T | undefined => items.splice(at % Math.max(1, items.length), 1)[0];

/** Some ids come once more: in the same job, in another one, or long after they were stored; as they were, or otherwise. */
const draft = fc.record({ domain: fc.nat(1), decision: fc.constantFrom(...decisions), time: fc.nat(3) });
const drafts = fc.array(fc.tuple(draft, fc.option(fc.nat(), { freq: 2 })), { minLength: 1, maxLength: 12 });

const steps: fc.Arbitrary<Step>[] = [
  drafts.map((drafts) =>
    step(`record ${drafts.length}`, async (_, { jobs, records, tenant }) => {
      const job = drafts.map(([{ domain, decision, time }, again]) => {
        const made = recordAt(times[time] ?? 0, { domainId: tenant.domainIds[domain] ?? '', decision });
        const known = again === null ? undefined : pick(records, again);
        if (!known) records.push(made);
        return known ? { ...made, id: known.id } : made;
      });
      jobs.push(job);
    }),
  ),
  fc.nat().map((at) =>
    step('deliver', async (model, real) => {
      const job = take(real.jobs, at);
      if (!job) return;
      await raise(real.redis.client, await store(model, real, job));
    }),
  ),
  fc.nat().map((at) =>
    step('deliver twice at once', async (model, real) => {
      const job = take(real.jobs, at);
      if (!job) return;
      const both = await Promise.all([persist(real.db, job), persist(real.db, job)]);
      model.store(job);
      await Promise.all(both.map(({ counters }) => raise(real.redis.client, counters)));
    }),
  ),
  fc.nat().map((at) =>
    step('crash after the commit', async (model, real) => {
      const job = pick(real.jobs, at);
      if (job) await store(model, real, job);
    }),
  ),
  fc.nat().map((at) =>
    step('deliver, raise late', async (model, real) => {
      const job = take(real.jobs, at);
      if (!job) return;
      real.raises.push(await store(model, real, job));
    }),
  ),
  fc.nat().map((at) =>
    step('a late raise arrives', async (_, real) => {
      const counters = take(real.raises, at);
      if (counters) await raise(real.redis.client, counters);
    }),
  ),
  fc.nat().map((at) =>
    step('persist directly, and owe', async (model, real) => {
      const job = take(real.jobs, at);
      if (!job) return;
      const counters = await store(model, real, job, { owe: true });
      const owed = await real.db.run((sql) => listOwedRaises(sql, undefined, 1_000));
      expect(owed.map(({ times: _, ...counter }) => counter)).toEqual(expect.arrayContaining(counters));
    }),
  ),
  fc.constant(step('flush', async (_, real) => void (await real.redis.client.flushall()))),
  fc.constant(step('drop', async (_, { redis, tenant }) => drop(redis.client, tenant.organizationId))),
  fc.nat().map((at) =>
    step('flush in the middle of a fill, after a delivery', async (model, real) => {
      const { db, redis, tenant, jobs } = real;
      const list = listerOf(db, tenant.organizationId);
      await fill(redis, tenant.organizationId, async (after, limit) => {
        const counters = await list(after, limit);
        const job = take(jobs, at);
        if (job) await raise(redis.client, await store(model, real, job));
        await redis.client.flushall();
        return counters;
      });
    }),
  ),
  fc.constant(step('fill', async (_, real) => void (await real.fill()))),
  fc.constant(
    step('sweep', async (_, { redis, db }) => void (await sweepOwedRaises({ countersRedis: redis, db, ...quiet() }))),
  ),
  fc.constant(
    step('reconcile', async (_, { db, redis }) => {
      const { signal } = new AbortController();
      await reconcile({ countersRedis: redis, db, ...quiet() }, signal, { patience: 0 });
    }),
  ),
];

const { db } = await openDatabase();
const redis = await openRedis((await openRedisServer()).url);
const tenant = await makeTenant(db, { domains: 2 });

describe('recording, against a model', () => {
  it('whatever happens to jobs, raises and Redis, both stores equal the model once all is quiet', async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(steps, { maxCommands: 60, size: 'max' }), async (commands) => {
        const { organizationId } = tenant;
        // the sweep and the reconciliation look at all that there is
        for (const table of ['records', 'counters', 'owed_raises'])
          await db.run((sql) => sql`delete from ${sql(table)}`);
        await redis.client.flushall();
        const model = new Model();
        const real = new Real(db, redis, tenant);
        await fc.asyncModelRun(() => ({ model, real }), checked(commands));

        // filled first and only without a mark: what a crash left unraised must come with the job's next delivery, and
        // what a mark calls complete must be
        if (!(await isReady(redis, organizationId))) await real.fill();
        for (const job of real.jobs.splice(0)) await raise(redis.client, await store(model, real, job));
        for (const counters of real.raises.splice(0)) await raise(redis.client, counters);
        await sweepOwedRaises({ countersRedis: redis, db, ...quiet() });

        const truth = model.counters(organizationId);
        expect(inKeyOrder(await countRecords(db, organizationId))).toEqual(truth);
        expect(inKeyOrder(await storedCounters(db, organizationId))).toEqual(truth);
        expect(await shown(redis, tenant, periods)).toEqual(truth);
      }),
      { numRuns: 50 },
    );
  }, 180_000);
});

/** The same commands, with a look at what Redis shows after each. */
function* checked(commands: Iterable<Step>): Iterable<Step> {
  for (const command of commands) {
    yield command;
    yield step('look', checkShown);
  }
}
