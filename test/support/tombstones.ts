import { expect } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { request, tokenFor } from './client.ts';
import { eventually } from './wait.ts';

/** Asks for somebody to be erased in all of the organization; resolves to the answer's status. */
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

/** Until a worker has told Redis of everybody who was erased. */
export const untilRedisKnowsErased = (db: Database): Promise<void> =>
  eventually(async () => {
    const [row] = await db.run(
      (sql) => sql<{ all: number; told: number }[]>`
        select count(*)::int as all, count(remembered_at)::int as told from tombstones`,
    );
    expect([row?.all === 0, row?.told]).toEqual([false, row?.all]);
  });
