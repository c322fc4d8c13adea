import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { persist } from '#libs/store/records/persist';
import { createClient, tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { at, type Stack, useStackWithApi } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';

/** reads in progress in a process */
const places = 8;

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
});
