/** Published versions of a domain's banner. */
import type { Sql } from '#libs/base/db/database';
import type { BannerVersion } from './contract.ts';

export interface Version {
  /** of the domain, from 1 */
  number: number;
  publishedAt: Date;
  by: string;
  note: string | null;
  restored: number | null;
  asksAgain: boolean;
}

export interface WholeVersion extends Version {
  /** JSON */
  settings: string;
}

const columns = (sql: Sql) => sql`
  number, published_at as "publishedAt", published_by as by, note, restored, asks_again as "asksAgain"`;

/** Newest first. */
export const listVersions = (
  sql: Sql,
  { domainNumber, limit, after }: { domainNumber: number; limit: number; after?: number | undefined },
) => sql<Version[]>`
  select ${columns(sql)} from banner_versions
  where domain_number = ${domainNumber} ${after === undefined ? sql`` : sql`and number < ${after}`}
  order by number desc limit ${limit}`;

/** Undefined `number`: the live one. */
export async function findVersion(sql: Sql, domainNumber: number, number?: number): Promise<WholeVersion | undefined> {
  const [version] = await sql<WholeVersion[]>`
    select ${columns(sql)}, settings from banner_versions
    where domain_number = ${domainNumber} ${number === undefined ? sql`` : sql`and number = ${number}`}
    order by number desc limit 1`;
  return version;
}

export async function addVersion(
  sql: Sql,
  domainNumber: number,
  { number, by, note, restored, asksAgain, settings }: Omit<WholeVersion, 'publishedAt'>,
): Promise<Version> {
  const [version] = await sql<Version[]>`
    insert into banner_versions (domain_number, number, published_by, note, restored, asks_again, settings)
    values (${domainNumber}, ${number}, ${by}, ${note}, ${restored}, ${asksAgain}, ${settings})
    returning ${columns(sql)}`;
  if (!version) throw new Error('a version was not published');
  return version;
}

/** Drops the settings. */
export const toBannerVersion = ({ number, publishedAt, by, note, restored, asksAgain }: Version): BannerVersion => ({
  version: number,
  publishedAt: publishedAt.toISOString(),
  by,
  note,
  restored,
  asksAgain,
});
