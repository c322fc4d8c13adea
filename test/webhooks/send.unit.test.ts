/** Receivers that respond in many small pieces: each costs the process that stores records, so they are limited. */
import { createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { send } from '#libs/webhooks/send';
import { listen } from '../support/listen.ts';
import { eventually } from '../support/wait.ts';

const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n';
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const done = 'HTTP/1.1 204 No Content\r\n\r\n';

/** Responds with `begin`, and then with `unit` until it is stopped; each in a packet of its own if `isApart`. */
async function sendTo({
  begin = '',
  unit = '',
  isApart = false,
}: {
  begin?: string;
  unit?: string;
  isApart?: boolean;
}) {
  let taken: Socket | undefined;
  const server = createServer((socket) => {
    taken = socket;
    socket.setNoDelay().on('error', () => {});
    const piece = isApart ? unit : unit.repeat(Math.ceil(50_000 / (unit.length || 1)));
    const more = () => {
      if (socket.destroyed) return;
      socket.write(piece, () => setImmediate(more));
    };
    socket.once('data', () => {
      socket.write(begin);
      if (unit) more();
    });
  });
  const port = await listen(server);
  const reach = { allowPrivate: true, networks: [], names: [], stores: [] };
  const sender = { reach, resolve: async () => [], patience: 120_000 };
  const outcome = await send(sender, `http://127.0.0.1:${port}/`, {}, '{}');
  await eventually(() => expect(taken?.destroyed).toBe(true));
  return outcome;
}

it('a few interim responses are passed over', async () => {
  expect(await sendTo({ begin: interim.repeat(8) + done })).toMatchObject({ failure: null, status: 204 });
});

it.each([
  ['interim responses', { unit: interim }],
  ['packets of a byte', { begin: 'HTTP/1.1 200 OK\r\nX-A: ', unit: 'x', isApart: true }],
])('endless %s are a connection that failed', async (_, response) => {
  expect(await sendTo(response)).toMatchObject({ failure: 'connection', status: null });
});

it.each([
  ['chunks of a byte', { begin: chunked, unit: '1\r\nx\r\n' }],
  ['chunks with extensions', { begin: chunked, unit: `1;${'x'.repeat(1_000)}\r\nx\r\n` }],
  ['packets of a byte', { begin: 'HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n', unit: 'x', isApart: true }],
])('a body of endless %s is cut off, and what its head said counts', async (_, response) => {
  expect(await sendTo(response)).toMatchObject({ failure: null, status: 200 });
});
