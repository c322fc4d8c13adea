import { connect, type Socket } from 'node:net';
import type { TransactionSql } from 'postgres';
import { beforeAll, describe, expect, it } from 'vitest';
import { persist } from '#libs/record/persist/persist';
import { createClient, request, tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { at, type Stack, useStackWithApi } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

/** reads in progress in a process */
const places = 8;
const day = 'from=2026-01-01&to=2026-01-01';

describe('large reads whose readers take nothing', () => {
  let stack: Stack;
  let stranger: Tenant;

  beforeAll(async () => {
    stack = await useStackWithApi();
    stranger = await makeTenant(stack.db);
    const fields = { domainId: stack.domainId, tcString: 'x'.repeat(60_000) };
    const records = Array.from({ length: 200 }, () => recordAt(Date.now(), fields));
    await persist(stack.db, records);
  });

  /** Takes the first bytes of its answer and no more; all of it is larger than the buffers between two sockets. */
  const readNothing = async (path: string) => {
    const { hostname, port } = new URL(stack.api.baseUrl);
    const socket = connect({ host: hostname, port: Number(port) });
    const authorization = `Authorization: Bearer ${tokenFor(stack.tenant.organizationId)}`;
    socket.write(`GET /v1/consent/${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`);
    await new Promise((resolve) => socket.once('readable', resolve));
    return socket;
  };

  it('hold no place, neither of their organization nor of another', async () => {
    const strange = createClient(stack.api.baseUrl, stranger);
    const idle: Socket[] = [];
    // one after the other, so that each is answered in time on a busy machine
    for (let count = 0; count < places; count += 1) idle.push(await readNothing(`${stack.domainId}/records?limit=200`));
    expect((await stack.client.orgStats('limit=1')).status).toBe(200);
    expect((await stack.client.records(stack.domainId, 'limit=1')).status).toBe(200);
    expect((await strange.records(at(stranger.domainIds, 0), 'limit=1')).status).toBe(200);
    for (const socket of idle) socket.destroy();
  });

  it.each([
    { what: 'erasures', table: 'tombstones', most: 3, ask: ['DELETE', '/v1/organization/visitors/v'] },
    {
      what: 'changes',
      table: 'domains',
      most: 3,
      ask: ['POST', '/v1/organization/domains', '{"name":"more.example"}'],
    },
    {
      what: 'acts about a visitor',
      table: 'visitor_acts',
      most: places - 1,
      ask: ['POST', '/v1/organization/acts/lookup', '{"visitorId":"v"}'],
    },
    // one more fills its counters in Redis
    {
      what: 'statistics that Redis lacks',
      table: 'counters',
      most: places,
      ask: ['GET', `/v1/organization/stats?${day}`],
    },
  ] as const)('nor are all connections of the process taken by $what of one organization', async (of) => {
    const { organizationId } = await makeTenant(stack.db);
    const { table, most } = of;
    const [method, path, body] = of.ask;
    const headers = {
      authorization: `Bearer ${tokenFor(organizationId, { scope: 'privacy manage read' })}`,
      ...(body && { 'content-type': 'application/json' }),
    };
    const waiting = async () => {
      const found = await stack.sql`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'assent-api' and wait_event_type = 'Lock'`;
      return found.count;
    };
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const locking = new Promise<void>((resolve, reject) => {
      const hold = async (sql: TransactionSql) => {
        // reads of the others go on
        await (method === 'GET' || table === 'visitor_acts'
          ? sql`lock table ${sql(table)} in access exclusive mode`
          : sql`lock table ${sql(table)} in exclusive mode`);
        resolve();
        await isReleased;
      };
      stack.db.run((sql) => sql.begin(hold), 60_000).catch(reject);
    });
    await locking;
    // an answer that took too long is a 503, and its place is another's: asked again until all places were seen taken
    let isSeen = false;
    const asked = Array.from({ length: 30 }, async () => {
      do await request(stack.api.baseUrl, path, { method, headers, ...(body && { body }) });
      while (!isSeen);
    });
    await eventually(async () => expect(await waiting()).toBe(most));
    const strange = createClient(stack.api.baseUrl, { ...stranger, scope: 'manage' });
    expect((await strange.get('/v1/organization/domains')).status).toBe(200);
    // where one was ended, the next one begins
    await eventually(async () => expect(await waiting()).toBe(most));
    isSeen = true;
    release();
    await Promise.all(asked);
  });
});
