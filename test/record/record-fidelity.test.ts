import fc from 'fast-check';
import { isbot } from 'isbot';
import { beforeEach, describe, expect, it } from 'vitest';
import { timeOf } from '#libs/base/terms/calendar';
import { decisions, models, sources } from '#libs/base/terms/terms';
import { readPage } from '#libs/log/domain-page';
import { type NewRecord, recordBody } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { isLibrary } from '#libs/record/persist/user-agent';
import { recordAt } from '../support/records.ts';
import { makeTenant, type Tenant, useDatabase } from '../support/stores.ts';

const optional = Object.keys(recordBody.shape).filter((field) => !['id', 'decision', 'source'].includes(field));
const isNull = (field: string) => [field, null];
/** What the contract answers for a record: the same, with null for what is absent. */
const asRead = (record: NewRecord) => ({
  ...Object.fromEntries(
    [...optional, 'country', 'region', 'ip', 'userAgent', 'erasedAt', 'log', 'position'].map(isNull),
  ),
  bot: isbot(record.userAgent ?? '') && !(record.source === 'api' && isLibrary(record.userAgent ?? '')),
  ...record,
  decidedAt: new Date(timeOf(record.id)).toISOString(),
});

const text = (maxLength: number) =>
  fc
    .string({ unit: 'binary', maxLength, size: 'medium' })
    .filter((value) => !value.includes('\0') && value.length <= maxLength);
const name = fc
  .stringMatching(/^[A-Za-z0-9_.:-]{1,64}$/)
  .filter((value) => !['__proto__', 'constructor', 'prototype'].includes(value));
const number = fc.oneof(
  fc.double({ noNaN: true, min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
  fc.maxSafeInteger(),
);
const moments = fc.date({ min: new Date('2024-02-01'), max: new Date('2024-03-31'), noInvalidDate: true });
const anyRecord = fc.record(
  {
    decidedAt: moments,
    receivedAt: moments.map((date) => date.toISOString()),
    decision: fc.constantFrom(...decisions),
    source: fc.constantFrom(...sources),
    visitorId: text(128).filter((value) => value !== ''),
    preferences: fc.dictionary(name, fc.boolean(), { maxKeys: 8, noNullPrototype: true }),
    bannerVersion: text(64),
    policyVersion: text(64),
    language: fc.constantFrom('de', 'en-GB', 'zh-Hant-TW'),
    pageUrl: fc.oneof(fc.webUrl(), fc.constant('capacitor://localhost/x')),
    country: fc.constantFrom('DE', 'AQ'),
    ip: fc.oneof(fc.ipV4(), fc.ipV6()),
    userAgent: text(512),
    tcString: text(4096),
    gppString: text(64),
    gpc: fc.boolean(),
    notice: fc.constantFrom(...['0', 'a', 'f'].map((digit) => digit.repeat(64))),
    variant: text(64),
    region: fc.constantFrom('US-CA', 'CA-QC'),
    model: fc.constantFrom(...models),
    bot: fc.boolean(),
    // JSON knows no -0
    metadata: fc.dictionary(
      name,
      fc.oneof(
        text(64),
        number.map((value) => (value === 0 ? 0 : value)),
        fc.boolean(),
      ),
      { maxKeys: 6, noNullPrototype: true },
    ),
  },
  { requiredKeys: ['decidedAt', 'receivedAt', 'decision', 'source'] },
);

const { db } = useDatabase();

describe('a record is read back as it was stored', () => {
  let tenant: Tenant;
  let domainId: string;
  beforeEach(async () => {
    tenant = await makeTenant(db);
    [domainId = ''] = tenant.domainIds;
  });

  const readAll = async () => {
    const { organizationId } = tenant;
    const { records } = await db.run((sql) => readPage(sql, { organizationId, domainId, limit: 1000, offset: 0 }));
    return new Map(records.map((record) => [record.id, record]));
  };

  it('whatever it holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRecord, { minLength: 1, maxLength: 20, size: 'max' }), async (drafts) => {
        const records = drafts.map(({ decidedAt, ...fields }) =>
          recordAt(decidedAt.getTime(), { domainId, ...fields }),
        );
        await persist(db, records);
        const stored = await readAll();
        for (const record of records) expect(stored.get(record.id)).toEqual(asRead(record));
      }),
      { numRuns: 20 },
    );
  });
});
