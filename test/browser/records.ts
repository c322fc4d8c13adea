/** What arrived in Postgres. */
import type { FullRecord } from '#libs/contract/responses';
import { readPage } from '#libs/store/records/log';
import type { Stack } from '../e2e/stack.ts';
import { eventually } from '../support/wait.ts';

/** A domain's records, oldest first, once there are `count`. */
export function recordsOf({ db, tenant, domainId }: Stack, count: number): Promise<FullRecord[]> {
  const { organizationId } = tenant;
  return eventually(
    async () => {
      const { records } = await db.run((sql) => readPage(sql, { organizationId, domainId, limit: 100, offset: 0 }));
      if (records.length !== count) throw new Error(`${records.length} records instead of ${count}`);
      return records.reverse();
    },
    { within: 40_000 },
  );
}
