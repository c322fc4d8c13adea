import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { persist } from '#libs/store/records/persist';
import { type Client, createClient, tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { at, type Stack, useStackWithApi } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';

const atOnce = 4;

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

  it.each<[string, (domainId: string) => string, (client: Client, domainId: string) => Promise<{ status: number }>]>([
    ['org-stats', () => 'org-stats', (client) => client.orgStats('limit=1')],
    [
      'records',
      (domainId) => `${domainId}/records?limit=200`,
      (client, domainId) => client.records(domainId, 'limit=1'),
    ],
  ])('of %s hold the turns of their organization, and no other is concerned', async (_, pathOf, small) => {
    const strange = createClient(stack.api.baseUrl, stranger);
    const idle: Socket[] = [];
    // one after the other, so that each is answered in time on a busy machine
    for (let count = 0; count < atOnce; count += 1) idle.push(await readNothing(pathOf(stack.domainId)));
    let isRead = false;
    const waiting = small(stack.client, stack.domainId).finally(() => {
      isRead = true;
    });
    for (let count = 0; count < 5; count += 1)
      expect((await small(strange, at(stranger.domainIds, 0))).status).toBe(200);
    expect(isRead).toBe(false);
    for (const socket of idle) socket.destroy();
    expect((await waiting).status).toBe(200);
  });
});
