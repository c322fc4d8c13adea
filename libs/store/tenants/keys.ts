/** API keys as they are managed: only what may be shown of them. */
import type { Sql } from '../sql.ts';

export interface ListedKey {
  number: number;
  prefix: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

export const keyColumns = (sql: Sql) => sql`
  number::float8 as number, prefix, created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt"`;

/** Newest first. */
export const listKeys = (
  sql: Sql,
  { domainId, limit, after }: { domainId: string; limit: number; after?: number | undefined },
) => sql<ListedKey[]>`
  select ${keyColumns(sql)} from api_keys
  where domain_id = ${domainId} ${after === undefined ? sql`` : sql`and number < ${after}`}
  order by number desc limit ${limit}`;
