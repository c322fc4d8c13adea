import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDatabase } from '#libs/base/db/database';
import { addDays, dayOf, spanOf } from '#libs/base/terms/calendar';
import { decisions, models, sources, totalOf } from '#libs/base/terms/terms';
import { type Derivation, deriveNext } from '#libs/epochs/derivations';
import { createPieceSize } from '#libs/epochs/piece-size';
import { createBlankDerivation } from '#libs/privacy/blanking';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { createFacetDerivation, createFacets } from '#libs/stats/facet-derivation';
import { type Facet, readFacets } from '#libs/stats/facets';
import { storeDisplays } from '#libs/stats/stored-displays';
import { atEnd } from '../support/at-end.ts';
import { changingSize } from '../support/piece-size.ts';
import { through } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { closeOpenEpoch } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { rolledBack } from '../support/transaction.ts';

const today = dayOf(Date.now());
const never = new AbortController().signal;
const noonOf = (day: string): string => `${day}T12:00:00.000Z`;

const { db } = await openDatabase();

async function store(records: NewRecord[]): Promise<void> {
  await persist(db, records);
  await closeOpenEpoch(db);
}

/** As a worker that is killed after any piece, or before its transaction ends. */
async function derive(derivation: Derivation, fails = 0): Promise<void> {
  const blank = createBlankDerivation(undefined);
  while ((await deriveNext(db, blank)) !== 'done');
  const killed: Derivation = {
    ...derivation,
    async derive(...given) {
      const mark = await derivation.derive(...given);
      if (Math.random() < fails) throw new Error('killed');
      return mark;
    },
  };
  const next = () =>
    deriveNext(db, killed).catch((error: Error) => {
      if (error.message !== 'killed') throw error;
      return 'more';
    });
  while ((await next()) !== 'done');
}

const counts = [...decisions, ...['choices', 'opt_ins', 'answers', 'objections', 'allowed', 'denied']];

/** What the facets say of all days and months, as text. */
const listFacets = (organizationIds: string[]) =>
  db.run(
    (sql) => sql<{ row: string }[]>`
      select concat_ws(
        ' ', o.id, coalesce(d.id, '-'), dimension, period, quote_literal(value), is_other,
        ${sql.unsafe(counts.map((name) => `coalesce(${name}, 0)`).join(', '))}
      ) as row
      from facets join organizations o on o.number = organization_number left join domains d on d.number = domain_number
      where o.id = any (${organizationIds}) order by 1`,
  );

/** The same, plainly: a `group by` for each dimension. */
const groupRecords = (organizationIds: string[]) =>
  db.run(async (sql) => {
    const value: Record<string, string> = {
      country: 'country',
      language: 'language',
      device: 'device',
      browser: 'browser',
      source: 'source::text',
      bannerVersion: 'banner_version',
      policyVersion: 'policy_version',
      variant: 'variant',
      region: 'region',
      model: 'model',
      crawlers: `''`,
    };
    // of these no record without a value is counted
    const only = (dimension: string) => (/^(region|model)$/.test(dimension) ? `and ${dimension} is not null` : '');
    const parts = Object.entries(value).map(
      ([dimension, column]) => `
        select o.id as o, level.domain as d, '${dimension}' as dimension, period, coalesce(${column}, '') as value,
          count(*) filter (where decision = 'accept_all') as a, count(*) filter (where decision = 'reject_all') as b,
          count(*) filter (where decision = 'custom') as c, count(*) filter (where decision = 'withdraw') as w,
          count(*) filter (where choice) as choices, count(*) filter (where choice and opt_in) as opt_ins,
          count(*) filter (where choice and source = 'banner') as answers,
          count(*) filter (where not asked and decision <> 'accept_all') as objections, 0 as allowed, 0 as denied
        from r ${dimension === 'crawlers' ? 'where bot' : 'where not bot'} ${only(dimension)}
        group by 1, 2, 3, 4, 5`,
    );
    const rows = await sql.unsafe<{ row: string }[]>(
      `with r as (
        select records.*, level.domain, period, device, browser, o.id as o_id,
          coalesce(model, 'opt_in') = 'opt_in' as asked,
          coalesce(model, 'opt_in') = 'opt_in' and decision <> 'withdraw'
            and source in ('banner', 'preferences', 'gpc') as choice,
          decision = 'accept_all' or decision = 'custom' and exists (
            select from jsonb_each(coalesce(preferences, '{}')) as p where p.key <> 'necessary' and p.value = 'true'
          ) as opt_in
        from records join domains dom on dom.number = domain_number
        join organizations o on o.id = dom.organization_id
        left join user_agents ua on ua.number = user_agent_number
        cross join lateral (values (dom.id), ('-')) as level (domain)
        cross join lateral (values ('YYYY-MM-DD'), ('YYYY-MM')) as f (format)
        cross join lateral (select to_char(to_timestamp(milliseconds_of(records.id) / 1000.0) at time zone 'UTC', format)) as p (period)
        where o.id = any (array[${organizationIds.map((id) => `'${id}'`).join(',')}])
      )
      select concat_ws(' ', o, d, dimension, period, quote_literal(value), 'f', a, b, c, w, choices, opt_ins, answers, objections, allowed, denied) as row
      from (
        ${parts.join(' union all ').replaceAll('o.id as o', 'o_id as o').replaceAll('level.domain as d', 'domain as d')}
        union all
        select o_id, domain, 'category', period, key, 0, 0, 0, 0, 0, 0, 0, 0,
          count(*) filter (where p.value = 'true'), count(*) filter (where p.value = 'false')
        from r cross join lateral jsonb_each(preferences) as p where not bot and asked group by 1, 2, 3, 4, 5
      ) as plain order by 1`,
    );
    return [...rows];
  });

const someRecord = (domainIds: string[]) => {
  const few = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
  return fc.record({
    domainId: fc.constantFrom(...domainIds),
    daysAgo: fc.integer({ min: 0, max: 20 }),
    decision: fc.constantFrom(...decisions),
    source: fc.constantFrom(...sources),
    country: few('DE', 'FR', 'US'),
    language: few('de', 'de-AT', 'en'),
    bannerVersion: few('1', '2', ''),
    policyVersion: few('2026-01', "o'clock"),
    variant: few('a', 'b'),
    region: few('US-CA', 'CA-QC'),
    model: few(...models),
    userAgent: few(
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
      'Googlebot/2.1 (+http://www.google.com/bot.html)',
    ),
    preferences: fc.option(
      fc.oneof(
        // of all selections the one that is no opt-in although it allows something
        fc.constant({ necessary: true }),
        fc.dictionary(fc.constantFrom('necessary', 'analytics', 'marketing', 'x'), fc.boolean(), {
          noNullPrototype: true,
        }),
      ),
      { nil: undefined },
    ),
  });
};

describe('facets', () => {
  it('equal a plain group by for any records, however pieces are cut, and wherever a worker is killed', async () => {
    const tenants = [await makeTenant(db, { domains: 3 }), await makeTenant(db, { domains: 1 })];
    const domainIds = tenants.flatMap((tenant) => tenant.domainIds);
    const organizationIds = tenants.map(({ organizationId }) => organizationId);
    const epochs = fc.array(fc.array(someRecord(domainIds), { maxLength: 30 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(epochs, fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), async (each, sizes) => {
        for (const records of each) {
          await store(
            records.map(({ daysAgo, ...fields }) =>
              recordAt(noonOf(addDays(today, -daysAgo)), fields as Partial<NewRecord> & { domainId: string }),
            ),
          );
        }
        await derive(createFacetDerivation('blank', db.generation, changingSize(sizes)), 0.3);
        expect((await listFacets(organizationIds)).map(({ row }) => row)).toEqual(
          (await groupRecords(organizationIds)).map(({ row }) => row),
        );
      }),
      { numRuns: 12 },
    );
  });

  it('are added in smaller pieces where one takes longer than a statement may, each record once', async () => {
    const { url, db: own } = await openDatabase();
    const { organizationId, domainIds } = await makeTenant(own);
    const records = Array.from({ length: 80 }, (_, n) =>
      recordAt(noonOf(today), { domainId: at(domainIds, 0), bannerVersion: `${n}` }),
    );
    await persist(own, records);
    await closeOpenEpoch(own);
    while ((await deriveNext(own, createBlankDerivation(undefined))) !== 'done');
    // a statement takes as long as it has versions, however fast the machine is
    await own.run((sql) =>
      sql.unsafe(`
        create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.008); return new; end $$;
        create trigger slow before insert on facets for each row when (new.dimension = 'bannerVersion') execute function slow()`),
    );
    const hasty = createDatabase({
      ...{ url, max: 2, statementTimeout: 500, deadline: 25_000, prepare: true, name: 'test' },
    });
    atEnd(() => hasty.close());
    const round = createFacets(hasty, 'blank', createPieceSize(records.length));
    const ends: string[] = [];
    while (ends.at(-1) !== 'done' && ends.length < 100) {
      ends.push(
        await round(never).then(
          () => 'done',
          ({ code }) => code,
        ),
      );
    }
    expect(ends).toEqual(expect.arrayContaining(['57014', 'done']));
    const question = { organizationId, domainId: '', dimensions: ['source' as const], spans: [spanOf(today)] };
    expect((await own.run((sql) => readFacets(sql, question))).map(totalOf)).toEqual([records.length]);
  });

  it('miss nothing where another server lacks pieces that were added', async () => {
    const { organizationId, domainIds } = await makeTenant(db);
    await store(Array.from({ length: 10 }, () => recordAt(noonOf(today), { domainId: at(domainIds, 0) })));
    let generation = 0;
    const derivation = createFacetDerivation('blank', () => generation, createPieceSize(3));
    await closeOpenEpoch(db);
    while ((await deriveNext(db, createBlankDerivation(undefined))) !== 'done');
    await deriveNext(db, derivation);
    await rolledBack(db, async (lost) => {
      for (let piece = 0; piece < 2; piece += 1) await deriveNext(lost, derivation);
    });
    generation += 1;
    while ((await deriveNext(db, derivation)) !== 'done');
    const question = { organizationId, domainId: '', dimensions: ['source' as const], spans: [spanOf(today)] };
    expect((await db.run((sql) => readFacets(sql, question))).map(totalOf)).toEqual([10]);
  });

  it('of displays are counted once for each flush, beside decisions', async () => {
    const { organizationId, domainIds } = await makeTenant(db);
    const domainId = at(domainIds, 0);
    const shown = { domainId, day: today, bannerVersion: '1', variant: '', language: 'de', displays: 3 };
    const flush = { id: randomUUID(), rows: [shown, { ...shown, bannerVersion: '2', language: '', displays: 1 }] };
    await storeDisplays(db, flush);
    await storeDisplays(db, flush);
    await store([recordAt(noonOf(today), { domainId, bannerVersion: '1' })]);
    await derive(createFacetDerivation('blank', db.generation));
    const round = createFacets(db, 'blank');
    await Promise.all([round(never), round(never)]);
    await storeDisplays(db, flush);
    await round(never);
    const dimensions = ['bannerVersion', 'language', 'source', 'variant'] as const;
    for (const owner of [domainId, '']) {
      const question = { organizationId, domainId: owner, dimensions: [...dimensions], spans: [spanOf(today)] };
      const facets = await db.run((sql) => readFacets(sql, question));
      const seen = facets.map(({ dimension, value, answers, displays }) => [dimension, value, answers, displays]);
      expect(seen.sort()).toEqual([
        ['bannerVersion', '1', 1, 3],
        ['bannerVersion', '2', 0, 1],
        ['language', '', 1, 1],
        ['language', 'de', 0, 3],
        ['source', 'banner', 1, 4],
        ['variant', '', 1, 4],
      ]);
    }
  });

  it('are derived while displays keep coming: those that were there before come first, others wait', async () => {
    const { organizationId, domainIds } = await makeTenant(db);
    const domainId = at(domainIds, 0);
    const showOne = () => {
      const row = { domainId, day: today, bannerVersion: '1', variant: '', language: '', displays: 1 };
      return storeDisplays(db, { id: randomUUID(), rows: [row] });
    };
    const before = 5;
    for (let each = 0; each < before; each += 1) await showOne();
    const answerOne = async () => {
      await store([recordAt(noonOf(today), { domainId, bannerVersion: '1' })]);
      while ((await deriveNext(db, createBlankDerivation(undefined))) !== 'done');
    };
    await answerOne();
    // one more before each transaction, and among those of the sweep an epoch that is closed
    const tooMany = new AbortController();
    let came = 0;
    const busy = through(db, async (ask) => {
      await showOne();
      came += 1;
      if (came === 4) await answerOne();
      if (came === 100) tooMany.abort();
      return ask(db);
    });
    const counted = async () => {
      const question = { organizationId, domainId, dimensions: ['bannerVersion' as const], spans: [spanOf(today)] };
      const facets = await db.run((sql) => readFacets(sql, question));
      return facets.map(({ answers, displays }) => ({ answers, displays }));
    };
    await createFacets(busy, 'blank', createPieceSize(2))(tooMany.signal);
    const [first] = await counted();
    // the other one only with what was shown before it
    expect(first?.answers).toBe(1);
    expect(first?.displays).toBeGreaterThanOrEqual(before);
    expect(first?.displays).toBeLessThan(before + came);
    await createFacets(db, 'blank')(never);
    expect(await counted()).toEqual([{ answers: 2, displays: before + came }]);
  });

  describe('of more values than have a place', () => {
    const yesterday = addDays(today, -1);
    let domainId: string;
    let organizationId: string;
    beforeEach(async () => {
      const tenant = await makeTenant(db);
      ({ organizationId } = tenant);
      domainId = at(tenant.domainIds, 0);
    });

    const versions = (names: string[], day: string, each = 1) =>
      names.flatMap((bannerVersion) =>
        Array.from({ length: each }, () => recordAt(noonOf(day), { domainId, bannerVersion })),
      );
    const many = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}-${n}`);
    const rows = async (period: string) => {
      const question = { organizationId, dimensions: ['bannerVersion' as const], spans: [spanOf(period)] };
      const [ofDomain, ofAll] = await Promise.all(
        [domainId, ''].map((owner) => db.run((sql) => readFacets(sql, { ...question, domainId: owner }))),
      );
      const read = (facets: Facet[] = []) => ({
        own: facets.flatMap(({ isOther, value }) => (isOther ? [] : value)).sort(),
        others: facets.filter(({ isOther }) => isOther).map(totalOf),
      });
      expect(read(ofDomain)).toEqual(read(ofAll));
      return read(ofDomain);
    };
    const stored = async (records: NewRecord[]) => {
      await store(records);
      await derive(createFacetDerivation('blank', db.generation));
    };

    it('counts the rest together', async () => {
      await stored(versions(many(1_000, 'junk'), today));
      const { own, others } = await rows(today);
      expect(own).toHaveLength(200);
      expect(others).toEqual([800]);
      expect((await rows(today.slice(0, 7))).others).toEqual([800]);
    });

    it('keeps the places of the last days, also where junk comes first', async () => {
      await stored(versions(['1', '2'], yesterday));
      await stored(versions(many(300, 'junk'), today, 3));
      await stored(versions(['1', '2', 'junk-0', 'late'], today));
      const { own, others } = await rows(today);
      expect(own).toEqual(expect.arrayContaining(['1', '2']));
      expect(own).not.toContain('late');
      expect(own).toHaveLength(200);
      expect(others).toHaveLength(1);
    });

    it('gives the largest of those that come together a place', async () => {
      await stored([...versions(many(300, 'junk'), today), ...versions(['real'], today, 2)]);
      expect((await rows(today)).own).toContain('real');
    });

    it('lets go of what somebody made up, once one with many times its records comes', async () => {
      await stored(versions(many(300, 'junk'), yesterday));
      await stored(versions(['weak'], today, 5));
      await stored(versions(['strong'], today, 11));
      const { own, others } = await rows(today);
      expect(own).toEqual(['strong']);
      expect(others).toEqual([5]);
    });
  });
});
