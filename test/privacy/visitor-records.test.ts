import { expect, it } from 'vitest';
import type { Reads } from '#libs/base/db/database';
import { listVisitorDomains, newestFirst } from '#libs/privacy/visitor-records';
import { persist } from '#libs/record/persist/persist';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';

it('the records of a visitor of many domains come newest first, and few are in memory at once', async () => {
  const { db } = await openDatabase();
  const { organizationId, domainIds } = await makeTenant(db, { domains: 30 });
  const now = Date.now();
  const records = Array.from({ length: 1_500 }, (_, each) =>
    recordAt(now - each * 1_000, { domainId: at(domainIds, each % 30), visitorId: 'v', tcString: 'x'.repeat(2_000) }),
  );
  for (let first = 0; first < records.length; first += 500) await persist(db, records.slice(first, first + 500));
  let size = 0;
  let most = 0;
  const reads: Reads = {
    read: async (work, how) => {
      const found = await db.read(work, how);
      size += JSON.stringify(found).length;
      return found;
    },
  };
  const domains = await listVisitorDomains(db, { organizationId }, 'v');
  const ids: string[] = [];
  for await (const page of newestFirst(reads, domains, 'v')) {
    most = Math.max(most, size);
    size = 0;
    ids.push(...page.map(({ record }) => record.id));
  }
  expect(ids).toEqual(records.map(({ id }) => id));
  // of all it is 4 MB
  expect(most).toBeLessThan(1_500_000);
});
