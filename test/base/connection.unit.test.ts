/** What one connection may ask of the server, in requests, chunks and bytes: valid HTTP that costs more than it should. */
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Koa from 'koa';
import { afterEach, describe, expect, it } from 'vitest';
import { readJsonObject } from '#libs/base/http/body';
import type { Context, State } from '#libs/base/http/context';
import { exchange, handleBrokenRequests } from '#libs/base/http/exchange';
import { closeServer, connectionLimit, createHttpServer } from '#libs/base/http/server';
import { readUpload } from '#libs/base/http/upload';
import { createBaseMetrics } from '#libs/base/ops/metrics';
import { createLog } from '#libs/base/ops/process-log';
import { sendPacked } from '../../apps/api/pages/send-packed.ts';
import { eventually } from '../support/wait.ts';

let server: Server;
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

const open = async (listener: RequestListener) => {
  server = createHttpServer(listener);
  handleBrokenRequests(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
};
/** `received` grows with each packet. */
const client = async (text = '') => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const found = { socket, received: '', isClosed: false };
  socket.on('error', () => {});
  socket.on('data', (data) => {
    found.received += data.toString('latin1');
  });
  socket.on('close', () => {
    found.isClosed = true;
  });
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(text);
  return found;
};
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
const bodies = (text: string) => [...text.matchAll(/\r\n\r\n(\/[a-z])/g)].map(([, path]) => path);

describe('requests that a client sends ahead', () => {
  let begun: string[] = [];
  let waiting: (() => void)[] = [];
  /** Each response is the request's path, once the test sends it. */
  const openHeld = () => {
    begun = [];
    waiting = [];
    return open((request: IncomingMessage, response: ServerResponse) => {
      begun.push(request.url ?? '');
      waiting.push(() => void response.end(request.url));
    });
  };
  const untilBegun = (...paths: string[]) => eventually(() => expect(begun).toEqual(paths));
  const answerNext = () => waiting.shift()?.();

  it('begin one after the other, and get their responses in order', async () => {
    await openHeld();
    const { socket, ...found } = await client(get('/a') + get('/b'));
    socket.on('data', (data) => {
      found.received += data.toString('latin1');
    });
    await untilBegun('/a');
    socket.write(get('/c'));
    for (const next of ['/b', '/c']) {
      answerNext();
      await eventually(() => expect(begun.at(-1)).toBe(next));
      expect(begun).toHaveLength(['/a', '/b', '/c'].indexOf(next) + 1);
    }
    answerNext();
    await eventually(() => expect(bodies(found.received)).toEqual(['/a', '/b', '/c']));
  });

  it('are not read while others wait, also where a body came before them', async () => {
    await openHeld();
    const post = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';
    const reading = once(server, 'request').then(([request]: IncomingMessage[]) => {
      request?.resume();
      return request?.socket;
    });
    const found = await client(post + get('/b'));
    const taken = await reading;
    await untilBegun('/a');
    const before = taken?.bytesRead;
    // more than what is read at once, so some of it would be
    found.socket.write('x'.repeat(1_000_000));
    // the server has gone round meanwhile
    const other = await client(get('/c'));
    await untilBegun('/a', '/c');
    waiting.pop()?.();
    await eventually(() => expect(bodies(other.received)).toEqual(['/c']));
    expect(taken?.bytesRead).toBe(before);
    expect(found.isClosed).toBe(false);
  });

  it('nor is the body of one that waits', async () => {
    await openHeld();
    const connected = once(server, 'connection').then(([socket]: Socket[]) => socket);
    const post = 'POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 900000000\r\n\r\n{';
    const { socket } = await client(get('/a') + get('/b') + post);
    const taken = await connected;
    await untilBegun('/a');
    const piece = 'x'.repeat(1_000_000);
    // until the kernel takes no more
    let isFull = false;
    socket.on('drain', () => {
      isFull = false;
    });
    for (let count = 0; count < 200 && !isFull; count += 1) {
      isFull = !socket.write(piece);
      // the server has gone round meanwhile
      const other = await client(get('/other'));
      await eventually(() => expect(begun.at(-1)).toBe('/other'));
      waiting.pop()?.();
      begun.pop();
      other.socket.destroy();
    }
    expect(taken?.bytesRead).toBeLessThan(2 * 65_536);
  });

  it('that are more than a few end the connection', async () => {
    await openHeld();
    const found = await client(Array.from({ length: 18 }, (_, n) => get(`/${n}`)).join(''));
    await eventually(() => expect(found.isClosed).toBe(true));
    expect(begun).toEqual(['/0']);
    const few = await client(Array.from({ length: 17 }, (_, n) => get(`/${n}`)).join(''));
    for (let count = 0; count < 17; count += 1) {
      await eventually(() => expect(begun).toHaveLength(2 + count));
      answerNext();
      answerNext();
    }
    await eventually(() => expect(statuses(few.received)).toHaveLength(17));
  });

  it('get responses from a server that stops, and the last one says so', async () => {
    await openHeld();
    const found = await client(get('/a') + get('/b'));
    await untilBegun('/a');
    const closed = closeServer(server, 60_000);
    answerNext();
    await untilBegun('/a', '/b');
    answerNext();
    await eventually(() => expect(bodies(found.received)).toEqual(['/a', '/b']));
    await closed;
    // a proxy would send its next request on a connection that is about to be closed
    const connections = [...found.received.matchAll(/^Connection: (.*)\r$/gim)].map(([, text]) => text);
    expect(connections).toEqual(['keep-alive', 'close']);
  });

  it('and come too slowly, since nobody reads them, get no response before the first', async () => {
    await openHeld();
    server.headersTimeout = 1;
    const found = await client(get('/a') + get('/b').slice(0, -2));
    await untilBegun('/a');
    // the server looks for what is late from time to time
    await once(server, 'clientError');
    expect(found.received).toBe('');
    answerNext();
    await eventually(() => expect(found.isClosed).toBe(true));
    expect([statuses(found.received), bodies(found.received)]).toEqual([[200], ['/a']]);
  });
});

describe('a body', () => {
  /** `/json` reads one, `/file` reads a long one, and everything else wants none. */
  const openApp = async () => {
    const app = new Koa<State>();
    app.silent = true;
    app.use(exchange({ log: createLog('test', 'silent'), metrics: createBaseMetrics() }));
    app.use(async (ctx: Context) => {
      if (ctx.path === '/json') ctx.body = await readJsonObject(ctx);
      if (ctx.path === '/file') for await (const chunk of readUpload(ctx, 10_000_000)) ctx.body = String(chunk.length);
      if (ctx.path === '/none') ctx.body = 'none';
    });
    await open(app.callback());
  };
  const begin = (path: string, ...headers: string[]) =>
    [`POST ${path} HTTP/1.1`, 'Host: a', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');
  const chunked = (path: string) => begin(path, 'Transfer-Encoding: chunked');
  /** Sends it again and again until the connection has ended; how many bytes the server has read of it. */
  const flood = async (head: string, unit: string) => {
    const connected = once(server, 'connection').then(([socket]: Socket[]) => socket);
    const found = await client(head);
    const { socket } = found;
    const taken = await connected;
    const piece = unit.repeat(Math.ceil(100_000 / unit.length));
    const more = () => {
      while (!found.isClosed && socket.write(piece));
    };
    socket.on('drain', more);
    more();
    await eventually(() => expect(found.isClosed).toBe(true));
    return { ...found, read: taken?.bytesRead ?? 0 };
  };
  const small = '1\r\n \r\n';

  it.each([
    ['small chunks', '/json', small, 413],
    ['small chunks of a file', '/file', small, 413],
    ['chunks with extensions', '/json', `1;${'x'.repeat(1_000)}\r\n \r\n`, 413],
    ['chunks, on an unknown path', '/unknown', small, 404],
    ['chunks that a GET brings', '/none', small, 200],
  ])('of endless %s is answered, and read no further', async (_, path, unit, status) => {
    await openApp();
    const { received, read } = await flood(chunked(path), unit);
    expect(statuses(received)).toEqual([status]);
    expect(received).toMatch(/^Connection: close\r$/im);
    // what is read at once is 64 KiB
    expect(read).toBeLessThan(6 * 65_536);
  });

  it('that is too large is refused, and its client sees that', async () => {
    await openApp();
    const { received } = await flood(begin('/json', 'Content-Length: 100000000'), ' ');
    expect(statuses(received)).toEqual([413]);
  });

  it('in chunks of some bytes each is taken', async () => {
    await openApp();
    const text = JSON.stringify({ a: 'x'.repeat(15_000) });
    const chunks = text.match(/.{1,10}/g) ?? [];
    const found = await client(chunked('/json'));
    for (const each of chunks) found.socket.write(`${each.length.toString(16)}\r\n${each}\r\n`);
    found.socket.write('0\r\n\r\n');
    await eventually(() => expect(statuses(found.received)).toEqual([200]));
    const long = await client(chunked('/file'));
    for (let count = 0; count < 2_000; count += 1) long.socket.write(`40\r\n${'x'.repeat(64)}\r\n`);
    long.socket.write('0\r\n\r\n');
    await eventually(() => expect(statuses(long.received)).toEqual([200]));
  });

  it('that was not wanted and has arrived leaves the connection as it is', async () => {
    await openApp();
    const found = await client(`${begin('/unknown', 'Content-Length: 2')}{}${get('/none')}`);
    await eventually(() => expect(statuses(found.received)).toEqual([404, 200]));
  });
});

it('a file that many clients do not read is in memory once', async () => {
  const file = { hash: 'x', content: new Uint8Array(4_000_000), zipped: new Uint8Array(0) };
  const app = new Koa<State>();
  let answered = 0;
  app.use((ctx: Context) => {
    sendPacked(ctx, file, 'text/plain', 'no-store');
    answered += 1;
  });
  await open(app.callback());
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 50; count += 1) (await client(get('/large'))).socket.pause();
  await eventually(() => expect(answered).toBe(50));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5 * file.content.length);
});

it('connections leave some of the files that a process may open', () => {
  expect(connectionLimit(1_024)).toEqual({ connections: 824, isLowered: true });
  expect(connectionLimit(1_000_000)).toEqual({ connections: 20_000, isLowered: false });
  expect(connectionLimit(100)).toEqual({ connections: 1, isLowered: true });
});
