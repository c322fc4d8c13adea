import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeOf } from '#libs/base/terms/calendar';
import { type Decision, decisions } from '#libs/base/terms/terms';
import { type LogQuery, readPage } from '#libs/log/domain-page';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { recordAt } from '../support/records.ts';
import { makeTenant, useDatabase } from '../support/stores.ts';

type Filters = Pick<LogQuery, 'decision' | 'from' | 'to' | 'visitorId' | 'bot'>;

const visitors = ['anna', 'bert', ''];
const days = ['2024-01-31', '2024-02-01', '2024-02-28', '2024-02-29', '2024-03-01', '2024-05-10'];
const draft = fc.record({
  day: fc.constantFrom(...days),
  // the edges of the day, or within it
  millisecond: fc.oneof(fc.constantFrom(0, 86_399_999), fc.nat(86_399_999)),
  decision: fc.constantFrom(...decisions),
  visitorId: fc.constantFrom(...visitors),
  bot: fc.boolean(),
});
const date = fc.constantFrom(...days, '2024-02-15', '2023-12-31', '2024-12-31', '0001-01-01', '1969-12-31');
const filters: fc.Arbitrary<Filters> = fc.record(
  {
    decision: fc.constantFrom<Decision[]>(...decisions),
    from: date,
    to: date,
    visitorId: fc.constantFrom('anna', 'bert', 'nobody'),
    bot: fc.boolean(),
  },
  { requiredKeys: [] },
);

const dayIn = (id: string) => new Date(timeOf(id)).toISOString().slice(0, 10);
const newestFirst = (one: NewRecord, other: NewRecord) => (one.id < other.id ? 1 : -1);

/** What a log must answer: all records of the domain that match, newest first. */
const matching = (records: NewRecord[], { decision, from, to, visitorId, bot }: Filters): string[] =>
  records
    .filter((record) => decision === undefined || record.decision === decision)
    .filter((record) => visitorId === undefined || record.visitorId === visitorId)
    .filter((record) => bot === undefined || record.bot === bot)
    .filter(
      (record) => (from === undefined || dayIn(record.id) >= from) && (to === undefined || dayIn(record.id) <= to),
    )
    .toSorted(newestFirst)
    .map((record) => record.id);

const { db } = useDatabase();

describe('the log, on random records over days and months', () => {
  /** One tenant with `drafts` on its first domain, and others' records around them. */
  const store = async (drafts: (typeof draft extends fc.Arbitrary<infer T> ? T : never)[]) => {
    const { organizationId, domainIds } = await makeTenant(db, { domains: 2 });
    const [domainId = '', neighbour = ''] = domainIds;
    const on = (domain: string) =>
      drafts.map(({ day, millisecond, decision, visitorId, bot }) =>
        recordAt(Date.parse(day) + millisecond, { domainId: domain, decision, bot, ...(visitorId && { visitorId }) }),
      );
    const records = on(domainId);
    await persist(db, [...records, ...on(neighbour)]);
    return { records, organizationId, domainId };
  };
  const idsOf = async (query: LogQuery) => {
    const { total, more, records } = await db.run((sql) => readPage(sql, query));
    return { total, more, ids: records.map((record) => record.id) };
  };

  it('a page at any offset is that slice of all that match, with the true total', async () => {
    const offset = fc.oneof({ arbitrary: fc.nat(70), weight: 9 }, fc.constant(200 * 999_999_999));
    const offsets = fc.array(fc.tuple(offset, fc.integer({ min: 1, max: 30 })), { minLength: 4, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(draft, { maxLength: 60, size: 'max' }),
        fc.array(filters, { maxLength: 4 }),
        offsets,
        async (drafts, chosen, slices) => {
          const { records, organizationId, domainId } = await store(drafts);
          for (const filter of [{}, ...chosen]) {
            const expected = matching(records, filter);
            for (const [offset, limit] of slices) {
              const page = await idsOf({ organizationId, domainId, ...filter, offset, limit });
              expect(page, JSON.stringify({ filter, offset, limit })).toEqual({
                total: expected.length,
                more: expected.length > offset + limit,
                ids: expected.slice(offset, offset + limit),
              });
            }
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  it('cursors lead through all that match, each once, with the true total on every page', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(draft, { maxLength: 60, size: 'max' }),
        filters,
        fc.integer({ min: 1, max: 20 }),
        async (drafts, filter, limit) => {
          const { records, organizationId, domainId } = await store(drafts);
          const expected = matching(records, filter);
          const seen: string[] = [];
          let after: string | undefined;
          // as the route asks: the cursor carries the number of its page
          do {
            const page = await idsOf({ organizationId, domainId, ...filter, limit, offset: seen.length, after });
            expect(page.total).toBe(expected.length);
            seen.push(...page.ids);
            after = page.more ? page.ids.at(-1) : undefined;
          } while (after);
          expect(seen).toEqual(expected);
        },
      ),
      { numRuns: 15 },
    );
  });
});
