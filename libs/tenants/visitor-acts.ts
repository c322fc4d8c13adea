/** Administrative acts about visitors: who read or erased whose records, and who exported which. The visitor is named by a hash alone. */
import type { Sql } from '#libs/base/db/database';
import { numbersOf, type VisitorScope } from './visitor-scope.ts';

export interface VisitorAct extends VisitorScope {
  /** the token's `sub`, or the operator */
  actor: string;
  act: 'visitor.read' | 'visitor.access' | 'visitor.erase' | 'records.export';
  /** null without PRIVACY_KEY, and for an export that is not of one visitor */
  hash: Uint8Array | null;
  erasureId?: string;
  /** an export's format and filters, without the visitor */
  details?: Record<string, string | boolean | undefined>;
}

export async function addVisitorAct(
  sql: Sql,
  { actor, act, hash, erasureId, details, ...scope }: VisitorAct,
): Promise<void> {
  const { organizationNumber, domainNumber } = await numbersOf(sql, scope);
  await sql`
    insert into visitor_acts (organization_number, domain_number, actor, act, hash, erasure_id, details)
    values (
      ${organizationNumber}, ${domainNumber}, ${actor}, ${act}, ${hash && Buffer.from(hash)}, ${erasureId ?? null},
      ${details ? JSON.stringify(details) : null}::text::jsonb
    )`;
}
