import type { Sql } from '#libs/base/db/database';
import type { Domain, Plan } from './tenants.ts';

/** The lists that the command line shows. */
export const directory = {
  plans: (sql: Sql) => sql<Plan[]>`
    select name, consent_log as "consentLog", monthly_record_limit as "monthlyRecordLimit" from plans order by name`,
  organizations: (sql: Sql) => sql<{ organizationId: string; name: string; plan: string }[]>`
    select id as "organizationId", name, plan from organizations order by created_at, id`,
  domains: (sql: Sql, organizationId?: string, domainId?: string) => sql<(Domain & { archivedAt: Date | null })[]>`
    select id as "domainId", organization_id as "organizationId", name, to_json(origins) as origins,
      archived_at as "archivedAt"
    from domains
    where (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
      and (${domainId ?? null}::text is null or id = ${domainId ?? null})
    order by created_at, id`,
  keys: (sql: Sql, domainId?: string) => sql<
    { domainId: string; prefix: string; createdAt: Date; lastUsedAt: Date | null; revokedAt: Date | null }[]
  >`
    select domain_id as "domainId", prefix, created_at as "createdAt", last_used_at as "lastUsedAt",
      revoked_at as "revokedAt"
    from api_keys where ${domainId ?? null}::text is null or domain_id = ${domainId ?? null}
    order by domain_id, created_at`,
};
