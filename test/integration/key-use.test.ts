import { expect, it } from 'vitest';
import { directory } from '#libs/store/tenants/administration';
import { hashApiKey, noteKeyUse } from '#libs/store/tenants/tenants';
import { makeTenant, useDatabase } from '../support/stores.ts';

it('a key shows when it was last used, a key that was not used shows nothing', async () => {
  const { db } = useDatabase();
  const { domainIds, apiKeys } = await makeTenant(db, { domains: 2 });
  await db.run((sql) => noteKeyUse(sql, [hashApiKey(apiKeys[0] ?? '')]));
  const [used, unused] = await Promise.all(domainIds.map((domainId) => db.run((sql) => directory.keys(sql, domainId))));
  expect(used?.[0]?.lastUsedAt?.getTime()).toBeGreaterThan(Date.now() - 60_000);
  expect(unused?.[0]?.lastUsedAt).toBeNull();
});
