/** How rows of `records` name a domain, a user agent and a notice. */

import type { Sql } from '#libs/base/db/database';

/** A domain's number never changes. */
export const domainNumberOf = (sql: Sql, domainId: string) => sql`(select number from domains where id = ${domainId})`;

/** For `records r`. */
export const joinReferences = (sql: Sql) => sql`
  left join domains on domains.number = r.domain_number
  left join user_agents on user_agents.number = r.user_agent_number
  left join notices on notices.number = r.notice_number`;

export interface UserAgentText {
  number: number;
  text: string;
}

export async function findUserAgents(sql: Sql, numbers: number[]): Promise<Map<number, UserAgentText>> {
  if (numbers.length === 0) return new Map();
  const rows = await sql<UserAgentText[]>`select number, text from user_agents where number = any(${numbers})`;
  return new Map(rows.map((row) => [row.number, row]));
}
