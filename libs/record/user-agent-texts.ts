/** The texts of user agents, by number. */
import type { Sql } from '#libs/base/db/database';

export interface UserAgentText {
  number: number;
  text: string;
}

export async function findUserAgents(sql: Sql, numbers: number[]): Promise<Map<number, UserAgentText>> {
  if (numbers.length === 0) return new Map();
  const rows = await sql<UserAgentText[]>`select number, text from user_agents where number = any(${numbers})`;
  return new Map(rows.map((row) => [row.number, row]));
}
