/** Notices that published banners show first. Any visitor's page may put them, without the limits for unknown notices. */
import type { Sql } from '#libs/base/db/database';

/** `hashes`: 64 hex digits each. */
export const expectNotices = (sql: Sql, domainNumber: number, hashes: string[]) => sql`
  insert into expected_notices (domain_number, hash)
  select ${domainNumber}::integer, decode(hash, 'hex') from unnest(${hashes}::text[]) as hash
  on conflict do nothing`;

export async function isExpected(sql: Sql, domainId: string, hash: string): Promise<boolean> {
  const expected = await sql`
    select from expected_notices
    where domain_number = (select number from domains where id = ${domainId}) and hash = decode(${hash}, 'hex')`;
  return expected.length > 0;
}
