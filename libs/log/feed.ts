/** The log in its own order, from which a client keeps a copy in sync. */

import type { Reads, Sql } from '#libs/base/db/database';
import { refuseFields } from '#libs/base/terms/field-errors';
import { Problem } from '#libs/base/terms/problem';
import { findSize, type LogSize } from '#libs/proof/published';
import type { LogName } from '#libs/proof/runs';
import { endpoint } from '#libs/tenants/endpoint';
import { requireConsentLog, requireOwnDomain } from '#libs/tenants/requirements';
import type { FeedEntry } from './contract.ts';
import { readFeed } from './feed-entries.ts';
import { logRoutes } from './routes.ts';

const defaultLimit = 1_000;
/** Bytes of JSON after which a page ends, so that other requests have their turn. */
const pageBytes = 1_000_000;
/**
 * Entries per statement: `first` at the start, then as many as make up about `bytes`, never more than `most` (an entry can
 * have 16 kB).
 */
const together = { first: 32, most: 250, bytes: 100_000 };

interface Parts {
  readDb: Reads;
}

export const getFeed = endpoint(logRoutes.getFeed, async ({ readDb }: Parts, { organization, params, query }) => {
  const { domainId } = params;
  requireOwnDomain(organization, domainId);
  requireConsentLog(organization);
  const { from = 0, limit = defaultLimit } = query;
  const { records, text } = await readDb.read(
    async (sql) => {
      const read = await requireSize(sql, domainId, query.log);
      requirePosition(read, from);
      const { log, size } = read;
      const { texts, records, next } = await readPage(sql, read, { from, below: Math.min(size, from + limit) });
      return { records, text: `{"log":${log},"entries":[${texts.join()}],"next":${next},"size":${size}}` };
    },
    { snapshot: true },
  );
  return { body: text, type: 'application/json', read: { what: 'feed', records, domainId } };
});

/**
 * Entries from position `from` to before `below` as JSON, or fewer if they are large. Each is serialized separately, so
 * that its size is known and the event loop is never blocked for long.
 */
async function readPage(sql: Sql, name: LogName, { from, below }: { from: number; below: number }) {
  const texts: string[] = [];
  let [at, bytes, records] = [from, 0, 0];
  while (at < below) {
    const wanted = at === from ? together.first : Math.ceil((together.bytes * texts.length) / bytes);
    const next = Math.min(below, at + Math.min(together.most, wanted));
    for (const entry of await readFeed(sql, name, { from: at, below: next })) {
      if (bytes >= pageBytes) return { texts, records, next: entry.position };
      const text = JSON.stringify(entry satisfies FeedEntry);
      bytes += text.length;
      if (entry.type === 'record') records += 1;
      texts.push(text);
    }
    at = next;
  }
  return { texts, records, next: below };
}

async function requireSize(sql: Sql, domainId: string, log: number | undefined): Promise<LogSize> {
  const found = await findSize(sql, domainId, log);
  if (found) return found;
  // before the first seal the response says log 1, so that a client can ask for log 1
  const isUnsealed = log === undefined || (log === 1 && !(await findSize(sql, domainId)));
  if (isUnsealed) return { domainNumber: 0, log: 1, size: 0, isEnded: false };
  throw new Problem('not_found', `this domain has no log ${log}`);
}

function requirePosition({ log, size, isEnded }: LogSize, from: number): void {
  if (from < size || (from === size && !isEnded)) return;
  if (isEnded) throw new Problem('log_restarted', `log ${log} ended at ${size}; read the next one from 0`);
  if (log > 1)
    throw new Problem('log_restarted', `the log was restarted; read log ${log}, which has ${size} entries, from 0`);
  throw refuseFields([{ path: '/from', in: 'query', message: `must be at most the log's size, ${size}` }]);
}
