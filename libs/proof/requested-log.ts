/** What is published of a domain's log, or the 404. */

import type { Sql } from '#libs/base/db/database';
import { Problem } from '#libs/base/terms/problem';
import { findLog, type PublishedLog } from './published.ts';

/** The newest log if no number is given. */
export async function requireLog(sql: Sql, domainId: string, log?: number): Promise<PublishedLog> {
  const found = await findLog(sql, domainId, log);
  if (found) return found;
  const detail = log === undefined ? 'nothing of this domain is sealed yet' : `this domain has no log ${log}`;
  throw new Problem('not_found', detail);
}
