import { expect } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { request, tokenFor } from './client.ts';
import { eventually } from './wait.ts';

/** Requests the erasure of somebody in the whole organization; resolves to the response's status. */
export async function eraseVisitor(
  baseUrl: string,
  organizationId: string,
  visitorId: string,
  secret?: string,
): Promise<number> {
  const headers = { authorization: `Bearer ${tokenFor(organizationId, { scope: 'privacy' }, secret)}` };
  const path = `/v1/organization/visitors/${visitorId}`;
  return (await request(baseUrl, path, { method: 'DELETE', headers })).status;
}

/** Until a worker has stored all erasures in Redis. */
export const untilRedisKnowsErased = (db: Database): Promise<void> =>
  eventually(async () => {
    const [row] = await db.run(
      (sql) => sql<{ all: number; stored: number }[]>`
        select count(*)::int as all, count(remembered_at)::int as stored from tombstones`,
    );
    expect([row?.all === 0, row?.stored]).toEqual([false, row?.all]);
  });
