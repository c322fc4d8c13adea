import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../apps/api/http/server.ts';
import { eventually } from '../support/wait.ts';

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** more than the kernel takes for a client that does not read */
const large = Buffer.alloc(32 * 1024 * 1024);

describe('the HTTP server', () => {
  let server: Server;
  const sockets: Socket[] = [];

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  const open = async (body: string | Buffer, limits: { stalledAfter: number; maxConnections: number }) => {
    server = createHttpServer((_, response) => void response.end(body), limits);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  };
  const client = async (): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const held = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));

  it('lets go of a client that never reads its answer', async () => {
    await open(large, { stalledAfter: 300, maxConnections: 10 });
    const socket = await client();
    socket.pause();
    socket.write(request);
    await eventually(async () => expect(await held()).toBe(1));
    await eventually(async () => expect(await held()).toBe(0), { within: 3_000 });
  });

  it('keeps a connection that is idle between two requests for longer', async () => {
    await open('fine', { stalledAfter: 200, maxConnections: 10 });
    const [idle, other] = [await client(), await client()];
    idle.write(request);
    await once(idle, 'data');
    // a connection that never asked has no more time than that, so its end tells that the time is over
    other.resume();
    await once(other, 'close');
    idle.write(request);
    const [answer] = (await once(idle, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    // load balancers keep theirs for a minute, and must not be the ones that find it closed
    expect(server.keepAliveTimeout).toBeGreaterThan(60_000);
  });

  it('holds a bounded number of connections', async () => {
    await open('fine', { stalledAfter: 5_000, maxConnections: 2 });
    await client();
    await client();
    const third = await client();
    third.resume();
    await once(third, 'close');
    expect(await held()).toBe(2);
  });
});
