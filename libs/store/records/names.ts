/** How rows of `records` name a domain, a user agent, a notice and a visitor. */
import type { Sql } from '../sql.ts';

/** Ids, texts and numbers belong together for good, so it does not matter when it is read. */
export const numberOf = (sql: Sql, domainId: string) => sql`(select number from domains where id = ${domainId})`;

/** For `records r`. */
export const joinNames = (sql: Sql) => sql`
  left join domains on domains.number = r.domain_number
  left join user_agents on user_agents.number = r.user_agent_number
  left join notices on notices.number = r.notice_number`;

/** The run that holds `r`, if any does: a log of its domain has it in order of epoch and id. `only`: in this log. */
export const runOf = (sql: Sql, only?: number) => sql`
  select log, first, ids, secrets, leaves from log_runs
  where domain_number = r.domain_number and (last_epoch, last_id) >= (r.epoch, r.id)
    ${only === undefined ? sql`` : sql`and log = ${only}`}
  order by last_epoch, last_id, log, first limit 1`;

/**
 * The place of `records r` in its domain's log, once a checkpoint covers it, with what its entry is made of. `only`: in no
 * other log than this one.
 */
export const joinLog = (sql: Sql, only?: number) => sql`
  left join lateral (
    select run.log, run.first + among as position, substr(run.secrets, among * 16 + 1, 16) as secret,
      substr(run.leaves, among * 32 + 1, 32) as leaf
    from (${runOf(sql, only)}) as run
    join logs on logs.domain_number = r.domain_number and logs.log = run.log
    cross join place_among(run.ids, r.id) as among
    where run.first + among < checkpoint_size
  ) as place on true`;

/** Beside `joinLog`: of an erased record what its entry commits to as `private`. */
export const erasedCommitment = (sql: Sql) => sql`
  (
    select private from erased_commitments e
    where e.domain_number = r.domain_number and e.log = place.log and e.position = place.position
  )`;

/** With the hash, because that is what the index holds: ids are much longer. */
export const isVisitor = (sql: Sql, visitorId: string) => sql`
  ${hasHashOf(sql, visitorId)} and visitor_id = ${visitorId}`;

export const hasHashOf = (sql: Sql, visitorId: string) => sql`hashtext(visitor_id) = hashtext(${visitorId})`;
