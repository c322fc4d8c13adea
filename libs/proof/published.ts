/** The published part of a domain's log: its newest checkpoint and the keys that signed it. */
import type { Sql } from '#libs/base/db/database';
import { Problem } from '#libs/base/terms/problem';

export interface PublishedLog {
  domainNumber: number;
  log: number;
  origin: string;
  /** entries that the checkpoint covers; at least 1 */
  size: number;
  /** the signed note */
  checkpoint: string;
  sealedAt: Date;
  /** every key that ever signed for it, newest first */
  verifierKeys: string[];
}

/** A domain's log, by default its newest one; undefined before the first checkpoint. */
export async function findLog(sql: Sql, domainId: string, log?: number): Promise<PublishedLog | undefined> {
  const [found] = await sql<PublishedLog[]>`
    select domain_number as "domainNumber", log, origin, checkpoint_size as size, checkpoint, sealed_at as "sealedAt",
      (
        select coalesce(json_agg(verifier_key order by added_at desc), '[]') from log_keys
        where log_keys.domain_number = logs.domain_number and log_keys.log = logs.log
      ) as "verifierKeys"
    from logs
    where domain_number = (select number from domains where id = ${domainId}) and checkpoint_size > 0
      and ${log === undefined ? sql`true` : sql`log = ${log}`}
    order by log desc limit 1`;
  return found;
}

/** The same; throws a 404 if there is none. */
export async function requireLog(sql: Sql, domainId: string, log?: number): Promise<PublishedLog> {
  const found = await findLog(sql, domainId, log);
  if (found) return found;
  const detail = log === undefined ? 'nothing of this domain is sealed yet' : `this domain has no log ${log}`;
  throw new Problem('not_found', detail);
}

export interface LogSize {
  domainNumber: number;
  log: number;
  /** entries that its newest checkpoint covers; 0 before the first */
  size: number;
  /** a newer log has replaced it */
  isEnded: boolean;
}

/** How far a domain's log is sealed, by default its newest one. */
export async function findSize(sql: Sql, domainId: string, log?: number): Promise<LogSize | undefined> {
  const [found] = await sql<LogSize[]>`
    select domain_number as "domainNumber", log, checkpoint_size as size, ended_at is not null as "isEnded"
    from logs
    where domain_number = (select number from domains where id = ${domainId})
      and ${log === undefined ? sql`true` : sql`log = ${log}`}
    order by log desc limit 1`;
  return found;
}
