/** GET /v1/consent/:domainId/records/:recordId: one record, with its place in the log. */

import type { Database, Sql } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { Problem } from '#libs/base/terms/problem';
import { logQuery, recordPath } from '#libs/record/contract';
import { organizationIn } from '#libs/tenants/bearer';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/rules';
import { type FoundRecord, findRecord, type WantedRecord } from './places.ts';

export function oneRecord({ readDb }: { readDb: Database }): Middleware {
  return guard({ params: recordPath, query: logQuery }, async (ctx, { params, query }) => {
    const organization = organizationIn(ctx);
    requireOwnDomain(organization, params.domainId);
    requireConsentLog(organization);
    const { record } = await readDb.run((sql) => requireRecord(sql, { ...params, ...query }));
    ctx.body = record;
  });
}

/** Where a log is named, a record that is sealed in another one counts as missing; one that is not sealed yet does not. */
export async function requireRecord(sql: Sql, wanted: WantedRecord): Promise<FoundRecord> {
  const found = await findRecord(sql, wanted);
  if (!found) throw new Problem('record_not_found', 'this domain has no such record');
  if (found.record.log !== null || wanted.log === undefined) return found;
  const elsewhere = await findRecord(sql, { ...wanted, log: undefined });
  if (elsewhere?.record.log) throw new Problem('record_not_found', `the record is in log ${elsewhere.record.log}`);
  return found;
}
