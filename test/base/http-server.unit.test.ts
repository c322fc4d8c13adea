import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { closeServer, createHttpServer } from '#libs/base/http/server';
import { gzipped, toStream } from '#libs/base/http/stream';
import { eventually } from '../support/wait.ts';

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
let server: Server;
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

const open = async (...given: Parameters<typeof createHttpServer>) => {
  server = createHttpServer(...given);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
};
const client = async (asks = ''): Promise<Socket> => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(asks);
  return socket;
};

describe('the HTTP server', () => {
  const held = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));

  it('keeps a connection that is idle between two requests for longer', async () => {
    await open((_, response) => void response.end('fine'), { stalledAfter: 500, maxConnections: 10 });
    const [idle, other] = [await client(request), await client()];
    await once(idle, 'data');
    // an unused connection has no more time than that, so its end shows that the time is over
    other.resume();
    await once(other, 'close');
    idle.write(request);
    const [answer] = (await once(idle, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    // load balancers keep theirs for a minute, and must not be the ones that find it closed
    expect(server.keepAliveTimeout).toBeGreaterThan(60_000);
  });

  it('holds a bounded number of connections', async () => {
    await open(() => {}, { stalledAfter: 60_000, maxConnections: 2 });
    await client();
    await client();
    const third = await client();
    third.resume();
    await once(third, 'close');
    expect(await held()).toBe(2);
  });
});

describe('a streamed response', () => {
  /** random, so that gzip makes it no smaller */
  const piece = crypto.getRandomValues(new Uint8Array(60_000));
  let made = 0;
  let isOver = false;

  /** It has no end; `isOver` once nothing of it is held any more. */
  async function* endless(): AsyncGenerator<Uint8Array> {
    made = 0;
    try {
      for (;;) {
        made += piece.length;
        yield piece;
      }
    } finally {
      isOver = true;
    }
  }
  const ask = async (limits: { judgedAfter: number; slowest: number }, isGzipped: boolean) => {
    isOver = false;
    await open((_, response) => {
      pipeline(toStream(isGzipped ? gzipped(endless()) : endless(), limits), response, () => {});
    });
    const socket = await client(request);
    socket.pause();
    return socket;
  };

  it('is cut off where the client reads too slowly, and nothing of it is held, though it is gzipped', async () => {
    const socket = await ask({ judgedAfter: 100, slowest: 1_000_000_000 }, true);
    const closed = once(socket, 'close');
    // more slowly than any machine compresses: only what is waited for counts
    const reading = setInterval(() => socket.read(20_000) ?? socket.read(), 20);
    onTestFinished(() => clearInterval(reading));
    await eventually(() => expect(isOver).toBe(true));
    clearInterval(reading);
    socket.resume();
    await closed;
  });

  it('waits for a client that stops for a while, and makes no more meanwhile', async () => {
    const socket = await ask({ judgedAfter: 60_000, slowest: 16_384 }, false);
    // until the kernel takes no more
    let before = 0;
    await eventually(() => {
      const isStill = made > 0 && made === before;
      before = made;
      if (!isStill) throw new Error('it goes on');
    });
    expect(made).toBeLessThan(64 * 1024 * 1024);
    const stalled = made;
    socket.resume();
    await eventually(() => expect(made).toBeGreaterThan(stalled + 10_000_000));
    socket.destroy();
    await eventually(() => expect(isOver).toBe(true));
  });
});

it('a server that stops responds to every client that has reached it, even if it notices late', async () => {
  await open((_, response) => void response.end('fine'));
  const { port } = server.address() as AddressInfo;
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const clients = new Worker(
    `const { connect } = require('node:net');
     const { parentPort, workerData: { port, request, sent } } = require('node:worker_threads');
     for (let each = 0; each < 20; each += 1) {
       let answer = '';
       const socket = connect(port, '127.0.0.1', () => socket.write(request, () => {
         Atomics.add(sent, 0, 1);
         Atomics.notify(sent, 0);
       }));
       socket.on('data', (data) => { answer += data; });
       socket.on('error', (error) => { answer = error.code; });
       socket.on('close', () => parentPort.postMessage(answer.slice(0, 12)));
     }`,
    { eval: true, workerData: { port, request, sent } },
  );
  const responses: string[] = [];
  clients.on('message', (answer: string) => responses.push(answer));
  // all have connected and sent before this process looks for the first of them
  for (let count = 0; count < 20; count = Atomics.load(sent, 0)) Atomics.wait(sent, 0, count);
  await closeServer(server, 0);
  await eventually(() => expect(responses).toHaveLength(20));
  expect(new Set(responses)).toEqual(new Set(['HTTP/1.1 200']));
});
