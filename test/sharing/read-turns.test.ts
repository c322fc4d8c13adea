import { expect, it } from 'vitest';
import { createClient, request, tokenFor } from '../support/client.ts';
import { useStackWithApi } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

/** reads in progress in a process */
const places = 8;
const stats = '/v1/organization/stats?from=2026-01-01&to=2026-01-01';

const { api, db, sql } = await useStackWithApi();
const stranger = createClient(api.baseUrl, { ...(await makeTenant(db)), scope: 'manage' });

// reads of the others go on beside what changes something
it.each<[string, number, string, string, string, string?]>([
  ['erasures', 3, 'busy_visitors in exclusive mode', 'DELETE', '/v1/organization/visitors/v'],
  ['changes', 3, 'domains in exclusive mode', 'POST', '/v1/organization/domains', '{"name":"more.example"}'],
  ['acts about a visitor', places - 1, 'visitor_acts', 'POST', '/v1/organization/acts/lookup', '{"visitorId":"v"}'],
  // one more fills its counters in Redis
  ['statistics that Redis lacks', places, 'counters', 'GET', stats],
])(
  'not all connections of a process are taken by %s of one organization',
  async (_, most, table, method, path, body) => {
    const { organizationId } = await makeTenant(db);
    const headers = {
      authorization: `Bearer ${tokenFor(organizationId, { scope: 'privacy manage read' })}`,
      ...(body && { 'content-type': 'application/json' }),
    };
    const untilMostWait = () =>
      eventually(async () => {
        const waiting = await sql`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'assent-api' and wait_event_type = 'Lock'`;
        expect(waiting.count).toBe(most);
      });
    // an answer that took too long is a 503, and its place is another's: asked again until all places were seen taken
    let isSeen = false;
    const ask = async () => {
      do await request(api.baseUrl, path, { method, headers, ...(body && { body }) });
      while (!isSeen);
    };
    const asked = await db.run(
      (pool) =>
        pool.begin(async (transaction) => {
          await transaction.unsafe(`lock table ${table}`);
          const all = Array.from({ length: 30 }, ask);
          await untilMostWait();
          expect((await stranger.get('/v1/organization/domains')).status).toBe(200);
          // where one was ended, the next one begins
          await untilMostWait();
          isSeen = true;
          return { all };
        }),
      200_000,
    );
    await Promise.all(asked.all);
  },
);
