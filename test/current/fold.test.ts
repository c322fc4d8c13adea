import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeIdAt } from '#libs/base/terms/calendar';
import { decisions, models } from '#libs/base/terms/terms';
import { consentInForce } from '#libs/current/in-force';
import { createNewestReader } from '#libs/current/newest';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { foldOf, type Stored } from '../../scripts/chaos/fold.ts';
import { makeTenant, useDatabase } from '../support/stores.ts';

const { db, sql } = await useDatabase();
const { organizationId, domainIds } = await makeTenant(db);
const [domainId = ''] = domainIds;
const reader = createNewestReader(db, async (_, visitors) => visitors.map(() => false));

const minute = 60_000;
const base = Date.parse('2026-03-31T23:59:00Z');
/** Around the ends of the 16 seconds that the visitors' index counts in, and of a month. */
const time = fc.oneof(
  fc.integer({ min: -6 * minute, max: 6 * minute }),
  fc.integer({ min: -20, max: 20 }).map((unit) => (Math.floor(base / 16_384) + unit) * 16_384 - base),
  fc.constantFrom(0, 1, -1, minute, -400 * 24 * 60 * minute),
);
/** Milliseconds from the id's time until it was received: clocks ahead and behind, retries, imports that say anything. */
const delay = fc.oneof(
  fc.integer({ min: -5 * minute, max: 50 }),
  fc.constantFrom(0, 1, 29 * 24 * 60 * minute, -300 * 24 * 60 * minute),
);
const preferences = fc.option(fc.dictionary(fc.constantFrom('necessary', 'analytics', 'marketing'), fc.boolean()), {
  nil: undefined,
});
const policyVersion = fc.constantFrom(undefined, '1', '2');
const record = fc.record({
  visitor: fc.constantFrom('a', 'b'),
  time,
  delay,
  decision: fc.constantFrom(...decisions),
  preferences,
  policyVersion,
  model: fc.constantFrom(undefined, ...models),
});
const terms = fc.record({
  validMonths: fc.constantFrom(null, 1, 11, 120),
  policyVersion: fc.constantFrom(null, '1', '2'),
  /** days after the base */
  now: fc.constantFrom(0, 29, 30, 31, 334, 335, 4_000),
});

it('what holds is the fold of all stored records of the visitor', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 12 }), terms, async (made, { now, ...domain }) => {
      run += 1;
      const idOf = (visitor: string) => `${visitor}-${run}`;
      await sql`
        update domains set valid_months = ${domain.validMonths}, policy_version = ${domain.policyVersion}
        where id = ${domainId}`;
      const records = made.map(
        ({ visitor, time, delay, ...fields }): NewRecord => ({
          ...fields,
          id: makeIdAt(base + time),
          domainId,
          visitorId: idOf(visitor),
          receivedAt: new Date(base + time + delay).toISOString(),
        }),
      );
      await persist(db, records);
      const ids = ['a', 'b', 'nobody', 'a'].map(idOf);
      const at = base + now * 24 * 60 * minute;
      const newest = await reader.read(organizationId, domainId, ids);
      const answered = ids.map((id, place) => {
        const held = consentInForce(domainId, id, newest[place], at);
        const { recordId, preferences, others, valid, reason, validUntil } = held;
        const allowed = Object.keys(preferences).filter((name) => preferences[name]);
        return { recordId, allowed: allowed.sort(), others, valid, reason, validUntil };
      });
      const storedOf = (id: string): Stored[] =>
        records
          .filter(({ visitorId }) => visitorId === id)
          .map((each) => ({
            ...each,
            receivedAt: new Date(each.receivedAt),
            preferences: each.preferences ?? null,
            policyVersion: each.policyVersion ?? null,
            model: each.model ?? null,
          }));
      expect(answered).toEqual(ids.map((id) => foldOf(storedOf(id), domain, at)));
    }),
    { numRuns: 150 },
  );
});
